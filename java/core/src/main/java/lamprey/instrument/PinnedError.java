package lamprey.instrument;

/**
 * A thread could not be suspended, because a method that is not transformed, such as a callback of the JDK, a native or reflective call, stands
 * between two that are. To the program, the blocking call has thrown it; the thread goes on. The message names the places on both sides.
 *
 * <p>It is an {@code Error} so that a {@code catch (Exception e)} does not hide it.
 */
public final class PinnedError extends Error {
    private static final long serialVersionUID = 1;

    /** With a message that says where. */
    public PinnedError(String message) {
        super(message);
    }
}
