package lamprey.instrument;

/**
 * What becomes of saved frames when the thread cannot be suspended: an error leaves them, the innermost first, as if the blocking call had thrown it. So
 * their {@code finally} blocks run, and their locks are released.
 *
 * <p><b>Invariants.</b> It happens on the stack of whatever noticed that suspending fails; {@link Execution#resume} is another meanwhile, as that of the run below may
 * be in use. The thread cannot be suspended before it is over: a primitive throws at once, so no frame is saved during it, and it ends.
 *
 * <p>A method may catch the error and return. Its result goes to its caller, if that frame was saved too. The outermost frame's has nowhere to go: its caller, a method
 * that is not transformed, has been left already.
 */
final class Unwinding {
    private Unwinding() {}

    /** Runs the frames, beginning with {@code innermost}, whose call has thrown {@code error}. What leaves the last is added to {@code error} if it is another. */
    static void of(Execution e, Frame innermost, Throwable error) {
        Resume below = e.resume;
        Frame unwoundBelow = e.unwound;
        Coroutine inBelow = e.unwindingIn;
        Resume r = new Resume();
        r.error = error;
        e.resume = r;
        e.unwindingIn = e.delimited;
        try {
            for (Frame f = innermost; f != null; f = f.caller) {
                e.unwound = f;
                leave(r, f);
            }
        } finally {
            e.resume = below;
            e.unwound = unwoundBelow;
            e.unwindingIn = inBelow;
        }
        if (r.error != null && r.error != error) {
            error.addSuppressed(r.error);
        }
    }

    private static void leave(Resume r, Frame frame) {
        try {
            frame.resume(r);
            r.error = null;
        } catch (Throwable t) {
            r.error = t;
        }
        r.caught = false;
        if (r.error != null) {
            Traces.unwound(r.error);
        } else if (r.ref instanceof Throwable) {
            Traces.unwound((Throwable) r.ref);
        }
    }
}
