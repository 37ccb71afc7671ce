package lamprey;

/**
 * The policy: which of the threads that are ready runs next. {@link Schedulers} has FIFO, LIFO, random and priority; a program may have its own.
 *
 * <p>Each carrier has an object of its own. The runtime sees to it that only one kernel thread is in it at a time, so it needs no locks. It must
 * hand out each thread that it was given once.
 */
public interface Scheduler {
    /** {@code thread} has become ready. */
    void ready(PicoThread thread);

    /** {@code thread} has been running and lets others go first. */
    default void yielded(PicoThread thread) {
        ready(thread);
    }

    /** Removes the thread that runs next; null if none is ready. */
    PicoThread next();

    /** How many are ready. */
    int size();

    /** Removes a thread for another carrier, which has nothing to do; null for none. */
    default PicoThread steal() {
        return next();
    }
}
