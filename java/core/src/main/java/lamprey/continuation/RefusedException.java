package lamprey.continuation;

import java.io.ObjectStreamException;

/** A serialised continuation is not accepted. The reason says which check has failed; the message says at what. */
public final class RefusedException extends ObjectStreamException {
    private static final long serialVersionUID = 1;

    /** Which check has failed. */
    public enum Reason {
        /** The bytes are not a serialised continuation, or of a version that is not known. */
        FORMAT,
        /** The bytes were not written with this key, or have been changed since. */
        FORGED,
        /** The continuation has been read before. */
        REPLAYED,
        /** A method that the continuation is in has other code than when it was written, or is gone. */
        CHANGED,
        /** A class is not on the list of what may be read. */
        NOT_ALLOWED,
        /** A limit of size, depth or number is exceeded. */
        LIMIT
    }

    private final Reason reason;

    RefusedException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    /** Which check has failed. */
    public Reason reason() {
        return reason;
    }
}
