package lamprey;

import java.util.ArrayList;
import java.util.List;

/**
 * The threads of a runtime that are alive and have blocked at least once: for dumps, and so that a blocked thread that nobody refers to is not lost unseen. Those
 * that have never blocked are in a queue or run. Lists through the threads themselves, in parts, each under its own lock.
 */
final class Registry {
    private static final int PARTS = 16;

    /** Its lock guards the links of the threads in it. */
    private static final class Part {
        PicoThread first;
    }

    private final Part[] parts = new Part[PARTS];

    Registry() {
        for (int i = 0; i < PARTS; i++) {
            parts[i] = new Part();
        }
    }

    void add(PicoThread t) {
        int i = (int) (Thread.currentThread().getId() & PARTS - 1);
        t.registered = (byte) (i + 1);
        Part p = parts[i];
        synchronized (p) {
            PicoThread f = p.first;
            t.nextLive = f;
            if (f != null) {
                f.previousLive = t;
            }
            p.first = t;
        }
    }

    void remove(PicoThread t) {
        Part p = parts[t.registered - 1];
        synchronized (p) {
            PicoThread before = t.previousLive;
            PicoThread after = t.nextLive;
            if (before == null) {
                p.first = after;
            } else {
                before.nextLive = after;
            }
            if (after != null) {
                after.previousLive = before;
            }
            t.previousLive = null;
            t.nextLive = null;
        }
        t.registered = 0;
    }

    List<PicoThread> threads() {
        List<PicoThread> all = new ArrayList<>();
        for (Part p : parts) {
            synchronized (p) {
                for (PicoThread t = p.first; t != null; t = t.nextLive) {
                    all.add(t);
                }
            }
        }
        return all;
    }
}
