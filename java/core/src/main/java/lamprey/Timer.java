package lamprey;

/**
 * A moment at which a wait ends, and the wait of a sleeping thread itself. 40 bytes. Only {@link Timers} touches {@link #index}.
 */
final class Timer extends Blocker {
    /** The moment, in nanoseconds of the runtime's clock. */
    final long when;
    /** What ends then; null for a wait for the permit. */
    private final Blocker target;
    /** Place in the heap; -1 if it is not in it. */
    int index = -1;

    /** Ends {@code target}, or gives the permit if that is null. */
    Timer(PicoThread thread, Blocker target, long when) {
        super(thread);
        this.target = target;
        this.when = when;
    }

    /** A sleep. */
    Timer(PicoThread thread, long when) {
        super(thread);
        this.target = this;
        this.when = when;
    }

    /** The moment has come. */
    void fire() {
        if (target != null) {
            target.cancel(Cause.TIMEOUT);
        } else {
            thread.unpark();
        }
    }

    @Override
    protected WaitReason reason() {
        return WaitReason.SLEEP;
    }
}
