package lamprey.instrument;

/**
 * A thread could not be suspended, because a method that is not transformed, such as a callback of the JDK, a native or reflective call, stands
 * between two that are. The thread goes on, with this error, which the blocking call throws: the transformed methods that it has left are left by it, the
 * innermost first, with what their handlers do. The message names the places on both sides.
 *
 * <p>What differs from an error that the blocking call throws by itself: the method in between has been left before, by another error (with flags, it has
 * gone on with a result of null or zero). So its handlers run before those of the methods that it has called, and cannot tell what has happened; what these
 * return, if they catch this error, is lost; the place that called the method in between gets this error in any case. Until then a further blocking call
 * is refused in the same way.
 *
 * <p>It is an {@code Error} so that a {@code catch (Exception e)} does not hide it.
 */
public final class PinnedError extends Error {
    private static final long serialVersionUID = 1;

    /** With a message that says where. */
    public PinnedError(String message) {
        super(message);
    }

    /** With a message that says where, and what the method in between has thrown instead; null for nothing. */
    public PinnedError(String message, Throwable cause) {
        super(message, cause);
    }
}
