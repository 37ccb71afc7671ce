package lamprey;

import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

/**
 * Threads made ready by kernel threads that are no carriers of the runtime, and what does not fit into a {@link RingQueue}: a stack that anyone pushes onto, and a
 * list in the right order, made of it, from which carriers take, under a lock. Linked through {@link LightThread#next}.
 */
final class Inbox {
    private static final AtomicReferenceFieldUpdater<Inbox, PicoThread> PUSHED =
        AtomicReferenceFieldUpdater.newUpdater(Inbox.class, PicoThread.class, "pushed");

    private volatile PicoThread pushed;
    /** Under the lock, but anyone may ask whether it is null. */
    private volatile PicoThread first;
    private PicoThread last;

    boolean isEmpty() {
        return pushed == null && first == null;
    }

    void add(PicoThread t) {
        add(t, t);
    }

    /** Adds a chain, the youngest first. */
    void add(PicoThread youngest, PicoThread oldest) {
        PicoThread p;
        do {
            p = pushed;
            oldest.next = p;
        } while (!PUSHED.compareAndSet(this, p, youngest));
    }

    /** Moves as many as it takes well to a carrier's queue, and returns what that says is next; null if there is none. */
    synchronized PicoThread takeFor(ReadyQueue queue) {
        if (pushed != null) {
            append(PUSHED.getAndSet(this, null));
        }
        for (int n = Math.max(queue.room() / 2, 1); n > 0; n--) {
            PicoThread t = take();
            if (t == null) {
                break;
            }
            queue.ready(t);
        }
        return queue.next();
    }

    private PicoThread take() {
        PicoThread t = first;
        if (t != null) {
            first = t.next;
            t.next = null;
            if (first == null) {
                last = null;
            }
        }
        return t;
    }

    /** Appends a chain whose youngest comes first. */
    private void append(PicoThread youngest) {
        PicoThread chain = null;
        PicoThread end = youngest;
        for (PicoThread t = youngest; t != null;) {
            PicoThread older = t.next;
            t.next = chain;
            chain = t;
            t = older;
        }
        if (last == null) {
            first = chain;
        } else {
            last.next = chain;
        }
        last = end;
    }
}
