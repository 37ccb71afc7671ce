package lamprey.instrument;

import java.io.Serializable;

/**
 * What is left of one call of a transformed method while its thread is suspended: which call it waits for, and the locals and operands that
 * are still needed after that call. Each transformed method has a generated subclass with a field for each of them.
 *
 * <p>Frames of a suspended thread form a list, the innermost first; {@link #caller} is the frame of the method that called this one.
 */
public abstract class Frame implements Serializable {
    private static final long serialVersionUID = 1;

    /** The frame of the calling method; null for the outermost. Written by {@link Coroutine} only. */
    transient Frame caller;

    /** Index of the call that suspended, in {@link MethodInfo#sites}. */
    public int site;

    /** Called by generated subclasses. */
    protected Frame() {}

    /** The method that this is a frame of. */
    public abstract MethodInfo method();

    /**
     * Goes on after the call that suspended: with the result in {@code r}, or by throwing {@code r.error} there. When the method returns, its
     * own result is in {@code r}. Generated: calls the twin.
     */
    public abstract void resume(Resume r) throws Throwable;

    /** The caller's frame; null for the outermost. */
    public final Frame caller() {
        return caller;
    }

    /** What a twin throws whose frame has a number of a call that the method does not have. Called by generated code. */
    public final IllegalStateException noSuchSite() {
        return new IllegalStateException("the frame of " + method() + " says that it waits for call " + site + ", and there are " + method().sites.length);
    }
}
