package lamprey.net;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import lamprey.instrument.RuntimeThread;

/**
 * Connections that have served a request and wait for another, by server. The one that was used last is taken first.
 *
 * <p>More are kept for each server than the JDK's five (both go by {@code http.maxConnections}): a carrier that finds a hundred responses in one look at the
 * selector returns a hundred connections before the next request takes one.
 *
 * <p>Invariant: a connection is in at most one list; while there is any, a daemon thread is there that closes it after {@link #KEEP_NANOS}.
 */
final class HttpIdle {
    private static final long KEEP_NANOS = 5_000_000_000L;
    private static final boolean KEEP = !"false".equals(System.getProperty("http.keepAlive"));
    private static final int MOST = Integer.getInteger("http.maxConnections", 256);
    /** Guarded by itself, as {@link #sweeping} is. The first of a list has been idle for longest. */
    private static final Map<String, ArrayDeque<HttpWire>> IDLE = new HashMap<>();
    private static boolean sweeping;

    private HttpIdle() {}

    /** Takes one; null if there is none. Does not block. */
    static HttpWire take(String key) throws IOException {
        while (true) {
            HttpWire w;
            synchronized (IDLE) {
                ArrayDeque<HttpWire> list = IDLE.get(key);
                w = list == null ? null : list.pollLast();
            }
            if (w == null) {
                return null;
            }
            if (System.nanoTime() - w.idleSince < KEEP_NANOS && w.in.isQuiet()) {
                return w;
            }
            w.close();
        }
    }

    /** Keeps {@code w}, or closes it. Does not block. */
    static void give(String key, HttpWire w) throws IOException {
        HttpWire surplus = w;
        if (KEEP && MOST > 0) {
            w.idleSince = System.nanoTime();
            synchronized (IDLE) {
                ArrayDeque<HttpWire> list = IDLE.computeIfAbsent(key, k -> new ArrayDeque<>());
                list.addLast(w);
                surplus = list.size() > MOST ? list.pollFirst() : null;
                if (!sweeping) {
                    sweeping = true;
                    new RuntimeThread(HttpIdle::sweep, "lamprey-http-idle").start();
                }
            }
        }
        if (surplus != null) {
            surplus.close();
        }
    }

    /** By its own kernel thread. */
    private static void sweep() {
        List<HttpWire> old;
        while ((old = expired()) != null) {
            for (HttpWire w : old) {
                try {
                    w.close();
                } catch (IOException e) {
                    // It is gone either way.
                }
            }
            try {
                Thread.sleep(1000);
            } catch (InterruptedException e) {
                // Nobody has a reason to; the next look comes earlier.
            }
        }
    }

    /** Null if there is nothing left to sweep. */
    private static List<HttpWire> expired() {
        List<HttpWire> old = new ArrayList<>();
        long now = System.nanoTime();
        synchronized (IDLE) {
            for (Iterator<ArrayDeque<HttpWire>> lists = IDLE.values().iterator(); lists.hasNext(); ) {
                ArrayDeque<HttpWire> list = lists.next();
                while (!list.isEmpty() && now - list.peekFirst().idleSince >= KEEP_NANOS) {
                    old.add(list.pollFirst());
                }
                if (list.isEmpty()) {
                    lists.remove();
                }
            }
            if (IDLE.isEmpty() && old.isEmpty()) {
                sweeping = false;
                return null;
            }
        }
        return old;
    }
}
