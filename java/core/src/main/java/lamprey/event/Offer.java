package lamprey.event;

import lamprey.Blocker;
import lamprey.PicoThread;

/**
 * One operation that waits in the queue of a channel or of something like it: of a thread that does only this ({@link Single}), or one of several
 * of a choice ({@link Branch}).
 */
public abstract class Offer extends Blocker {
    /** {@link #tryComplete}: it was chosen, and its thread gets the result. */
    static final int COMPLETED = 1;
    /** {@link #tryComplete}: the thread has chosen something else, or has given up. */
    static final int GONE = 2;
    /** {@link #tryComplete}: the thread is trying to choose another of its offers; ask again. */
    static final int BUSY = 3;

    /** Links of {@link Waiters}. {@code prev} is the offer itself when it has been taken out. */
    Offer next;
    Offer prev;
    /** What the thread brings (the value of a send), or the port if it brings nothing. */
    Object value;

    Offer(PicoThread thread) {
        super(thread);
    }

    /** What the thread brings. */
    public final Object value() {
        return value;
    }

    /** Chooses this offer, if its thread is still waiting for one, delivers the result and wakes the thread. Does not block. */
    abstract int tryComplete(Object result);

    /** Whether it is one of this choice's. A choice never meets itself. */
    abstract boolean isOf(Choice choice);
}
