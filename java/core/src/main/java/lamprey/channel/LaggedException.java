package lamprey.channel;

/** A subscriber of a {@link Broadcast} was too slow: values have been overwritten before it received them. It goes on with the oldest that is left. */
public final class LaggedException extends RuntimeException {
    private static final long serialVersionUID = 1;
    /** The number of values that were missed. */
    private final long missed;

    /** With the number of values that were missed. */
    public LaggedException(long missed) {
        super("the subscriber was too slow and has missed " + missed + " values; a larger capacity of the Broadcast keeps more");
        this.missed = missed;
    }

    /** The number of values that were missed. */
    public long missed() {
        return missed;
    }
}
