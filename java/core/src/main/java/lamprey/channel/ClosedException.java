package lamprey.channel;

/** A channel has been closed: nothing can be sent any more, or there is nothing left to receive. */
public final class ClosedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** With a message that says what was closed. */
    public ClosedException(String message) {
        super(message);
    }
}
