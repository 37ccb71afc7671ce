package lamprey.instrument;

/**
 * Thrown up the call tree to suspend a thread. Each transformed method on the way saves its frame ({@link #capture}) and throws it on; the
 * bottom, {@link Coroutine#resume()}, keeps the frames. Allocated once for each {@link Execution}, without a stack trace.
 *
 * <p><b>Frames that cannot be saved.</b> A method that is not transformed may stand between two that are (a callback of the JDK, say), and what it
 * was doing would be lost. That never passes unseen. The frame that was saved last says which method it belongs to; the call that the next one
 * waits for must have selected exactly this method, or {@link #capture} refuses ({@link Site#leadsTo}). A {@code Suspend} that arrives in a
 * transformed method by another call is caught by a handler that the transformer adds, and refused by {@link #escaped}. A refusal is a
 * {@link PinnedError}, thrown from the place that noticed: to the program it is as if the blocking call had thrown it.
 *
 * <p>With flags instead of exceptions, nothing is thrown: {@link #active} is set, and methods return at once; the rest is the same.
 */
@SuppressWarnings("serial")
public final class Suspend extends Error {
    /** Frames are being saved. Between two of them, no code of the program may run. */
    boolean active;
    /** The frame that was saved first, that is the innermost. */
    Frame innermost;
    /** The frame that was saved last. */
    Frame outermost;
    /** The method that was left last: of {@link #outermost}, or the primitive. */
    MethodInfo left;
    /** The innermost delimited computation is suspended, not the thread. Kept until the next suspension. */
    boolean delimited;

    private final Execution execution;

    Suspend(Execution execution) {
        super("a thread is being suspended; this must not be caught (see PinnedError)", null, false, false);
        this.execution = execution;
    }

    void begin(MethodInfo primitive) {
        active = true;
        delimited = false;
        innermost = outermost = null;
        left = primitive;
    }

    void begin(Frame frame) {
        active = true;
        delimited = false;
        innermost = outermost = frame;
        left = frame.method();
    }

    /**
     * Saves the frame of a transformed method, whose call of {@code frame.site} has been left by this. Called by generated code.
     *
     * @param receiver the object whose method was called, null for a static method or constructor
     * @return this, to be thrown on
     * @throws PinnedError if the frame cannot be saved; to the program it is as if the call had thrown it
     */
    public Suspend capture(Frame frame, MethodInfo method, Object receiver) {
        return capture(frame, method, method.sites[frame.site], receiver);
    }

    /** As the other one, for a call that is known only at run time. */
    Suspend capture(Frame frame, MethodInfo method, Site site, Object receiver) {
        if (!active || !site.leadsTo(left, receiver)) {
            throw refuse(method, site, receiver);
        }
        if (outermost == null) {
            innermost = frame;
        } else {
            outermost.caller = frame;
        }
        outermost = frame;
        left = method;
        return this;
    }

    /** The method that the runtime has resumed returns, as its frame has been saved. Called by generated code. */
    public void arrived() {
        execution.resume.caught = true;
    }

    /**
     * What a handler of the program, or of a transformed method's calls that cannot suspend, gets instead of a {@code Suspend}. Called by
     * generated code at the head of each handler that could catch one.
     *
     * @return {@code caught} if it is no {@code Suspend}, else a {@link PinnedError}
     */
    public static Throwable escaped(Throwable caught, String where) {
        if (Built.WITH_FLAGS) {
            Suspend s = Execution.unwinding();
            if (s == null) {
                return caught;
            }
            PinnedError error = s.refuse(where, "a call");
            error.addSuppressed(caught);
            return error;
        }
        return caught instanceof Suspend ? ((Suspend) caught).refuse(where, "a call") : caught;
    }

    /**
     * With flags: a call that cannot suspend has returned. Called by generated code.
     *
     * @throws PinnedError if the thread is being suspended all the same
     */
    public static void returned(String where) {
        Suspend s = Execution.unwinding();
        if (s != null) {
            throw s.refuse(where, "a call");
        }
    }

    private PinnedError refuse(MethodInfo method, Site site, Object receiver) {
        String where = method.owner.replace('/', '.') + "." + method.name + " (" + method.file + ":" + site.line + ")";
        String of = receiver == null ? "" : " of " + receiver.getClass().getName();
        return refuse(where, site.name + site.desc + of);
    }

    /** Gives up suspending: the thread goes on, with an error. */
    PinnedError refuse(String where, String call) {
        String inner = left == null ? "?" : left.toString();
        PinnedError error = new PinnedError("cannot suspend: " + where.replace("main$pico$body", "main") + " called " + call + ", which led to " + inner
            + " through a method that is not transformed (frames saved so far: " + names() + ")");
        abandon();
        Coroutine current = execution.current;
        if (current != null && !delimited) {
            current.suspensionFailed();
        }
        return error;
    }

    /** Forgets the frames. */
    void abandon() {
        active = false;
        innermost = outermost = null;
        left = null;
    }

    private String names() {
        StringBuilder names = new StringBuilder();
        for (Frame f = innermost; f != null; f = f.caller) {
            MethodInfo m = f.method();
            names.append(names.length() == 0 ? "" : ", ").append(m).append(':').append(m.at(f.site).getLineNumber());
        }
        return names.length() == 0 ? "none" : names.toString();
    }
}
