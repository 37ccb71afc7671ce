package lamprey.event;

import lamprey.Parking;

/**
 * A base event: an operation on an object with a lock and queues of waiting threads. Channels are made of it; a program may add its own.
 *
 * <p>{@link #poll}, {@link #settle} and {@link #payload} are called with the lock of {@link #queue} held; they must not block.
 *
 * @param <T> the result
 */
public abstract class Port<T> extends Event<T> {
    /** The operation is not possible now. */
    public static final Object NO = new Object();
    /** A partner is deciding; to be asked again. */
    public static final Object BUSY = new Object();

    /** For subclasses. */
    protected Port() {}

    /** A result that makes the operation throw. */
    public interface Failure {
        /** A new exception. */
        RuntimeException exception();
    }

    /** Where the operation waits. Always the same queue. */
    protected abstract Waiters queue();

    /**
     * Does the operation, if that is possible now. A partner is chosen by {@link Offer#tryCommit}; one that {@link Offer#isOf} {@code self} must be
     * passed over; if one is busy and there is no other, the answer is {@link #BUSY} and nothing has changed.
     *
     * @param self the choice that is being made; null if the thread has published no offer
     * @return {@link #NO}, {@link #BUSY}, or the result, which may be a {@link Failure}
     */
    protected abstract Object poll(Choice self);

    /** Called after a successful poll, when the own choice is decided: the place to serve others, by {@link Waiters#choose}. */
    protected void settle() {}

    /** What the offer brings while it waits; this port if nothing. */
    protected Object payload() {
        return this;
    }

    /**
     * The thread that was given this result will not use it: it could not be suspended, or it was interrupted in a {@link Event#chooseAll} of which this is a member. Takes
     * a value back, if there is one. Without the lock; must not block.
     *
     * @return whether it is now as if the operation had not happened; false for one that has sent
     */
    protected boolean giveBack(Object result) {
        return true;
    }

    /** Does the operation if that is possible now, with no offer published: the result, or {@link #NO}. */
    protected final Object attempt() {
        Waiters queue = queue();
        for (int spins = 0; ; spins++) {
            synchronized (queue.lock) {
                Object v = poll(null);
                if (v != BUSY) {
                    if (v != NO) {
                        settle();
                    }
                    return v;
                }
            }
            Backoff.pause(spins);
        }
    }

    /** The result of an operation as the caller sees it. */
    @SuppressWarnings("unchecked")
    public static <R> R result(Object value) {
        if (value instanceof Failure) {
            throw ((Failure) value).exception();
        }
        return (R) value;
    }

    /** Synchronises on this event alone. Blocks. */
    final T syncAlone() throws InterruptedException {
        Waiters queue = queue();
        Single waiting;
        for (int spins = 0; ; spins++) {
            synchronized (queue.lock) {
                Object v = poll(null);
                if (v == NO) {
                    waiting = Single.enqueue(queue, payload());
                    break;
                }
                if (v != BUSY) {
                    settle();
                    return result(v);
                }
            }
            Backoff.pause(spins);
        }
        try {
            return result(Parking.await(waiting));
        } catch (InterruptedException e) {
            waiting.leave(queue);
            throw e;
        }
    }

    @Override
    final void flatten(Sync s, Step path) {
        s.add(new Branch(this, path, 0));
    }
}
