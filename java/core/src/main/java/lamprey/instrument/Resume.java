package lamprey.instrument;

/**
 * How the result of a call travels between frames that are resumed one after the other: a reference in {@link #ref}; int, long, boolean, byte,
 * char, short in {@link #prim}; float and double in {@link #real}; an exception in {@link #error}, which is null if the call returned. One for each
 * {@link Execution}.
 */
public final class Resume {
    /** The result, if it is a reference. */
    public Object ref;
    /** The result, if it is an integer of any width. */
    public long prim;
    /** The result, if it is a float or double. */
    public double real;
    /** What the call has thrown; null if it returned. */
    public Throwable error;
    /** The resumed method has suspended again: its twin has returned. */
    boolean caught;

    Resume() {}
}
