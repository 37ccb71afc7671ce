package lamprey.instrument;

/**
 * Thrown up the call tree to suspend a thread. Each transformed method on the way saves its frame ({@link #capture}) and throws it on; the
 * bottom, {@link Coroutine#resume()}, keeps the frames. Allocated once for each {@link Execution}, without a stack trace.
 *
 * <p><b>Frames that cannot be saved.</b> A method that is not transformed may stand between two that are (a callback of the JDK, say), and what it
 * was doing would be lost. That never passes unseen. The frame that was saved last says which method it belongs to; the call that the next one
 * waits for must have selected exactly this method, or {@link #capture} refuses ({@link Site#leadsTo}). A {@code Suspend} that arrives in a
 * transformed method by another call is caught by a handler that the transformer adds, and refused by {@link #escaped}. A refusal is a
 * {@link PinnedError}, thrown from the place that noticed, after the frames that had been saved have been unwound with it ({@link Unwinding}): to them it
 * is as if the blocking call had thrown it. To the method that is not transformed it is not: it has been left before, by this.
 *
 * <p><b>Errors while frames are being saved.</b> The JVM may have no stack or memory left to save a frame, or cannot load a class that this takes. That
 * error leaves the methods that are still to be saved, and the first handler for it calls {@link #escaped} or {@link #failed}: the suspension is given
 * up, and the frames are unwound with that error, as if the blocking call had thrown it.
 *
 * <p>With flags instead of exceptions, nothing is thrown: {@link #active} is set, and methods return at once; the rest is the same.
 */
@SuppressWarnings("serial")
public final class Suspend extends Error {
    // Its state is not written; an error that has this as its cause may be.

    /** Frames are being saved. Between two of them, no code of the program may run. */
    transient boolean active;
    /** The frame that was saved first, that is the innermost. */
    transient Frame innermost;
    /** The frame that was saved last. */
    transient Frame outermost;
    /** The method that was left last: of {@link #outermost}, or the primitive. */
    transient MethodInfo left;
    /** The innermost delimited computation is suspended, not the thread. Kept until the next suspension. */
    transient boolean delimited;

    /** How many frames have ever been saved; may overflow. */
    transient int saved;

    /** What was called to suspend. */
    private transient MethodInfo primitive;
    private final transient Execution execution;

    Suspend(Execution execution) {
        super("a thread is being suspended; this must not be caught (see PinnedError)", null, false, false);
        this.execution = execution;
    }

    void begin(MethodInfo primitive) {
        active = true;
        delimited = false;
        innermost = outermost = null;
        left = primitive;
        this.primitive = primitive;
    }

    void begin(Frame frame) {
        active = true;
        delimited = false;
        innermost = outermost = frame;
        saved++;
        left = frame.method();
        primitive = null;
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
        saved++;
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
     * @return {@code caught} if the thread is not being suspended, or if that error is why it cannot be; else a {@link PinnedError}
     */
    public static Throwable escaped(Throwable caught, String where) {
        if (caught instanceof Suspend && !Built.WITH_FLAGS) {
            return ((Suspend) caught).refuse(where, null, null);
        }
        Suspend s = Execution.unwinding();
        if (s == null) {
            return caught;
        }
        return s.endedBy(caught, "that came to " + where);
    }

    /** As {@link #escaped}, for a handler that cannot catch a {@code Suspend}, but an error of the JVM. Called by generated code. */
    public static void failed(Throwable caught) {
        if (caught instanceof VirtualMachineError) {
            Suspend s = Execution.unwinding();
            if (s != null) {
                s.giveUp(caught);
            }
        }
    }

    /**
     * With flags: a call that cannot suspend has returned. Called by generated code.
     *
     * @throws PinnedError if the thread is being suspended all the same
     */
    public static void returned(String where) {
        Suspend s = Execution.unwinding();
        if (s != null) {
            throw s.refuse(where, null, null);
        }
    }

    private PinnedError refuse(MethodInfo method, Site site, Object receiver) {
        String where = method.owner.replace('/', '.') + "." + method.name + " (" + method.file + ":" + site.line + ")";
        String of = receiver == null ? "" : " of " + receiver.getClass().getName();
        return fail(where, site.name + site.desc + of, null, null, site.owner.replace('/', '.'), receiver);
    }

    /**
     * Gives up suspending: the thread goes on, with an error.
     *
     * @param call null if it is not known
     */
    PinnedError refuse(String where, String call, Throwable cause) {
        return fail(where, call, null, cause, null, null);
    }

    /** As {@code refuse}, where it is not known which method was in between. */
    PinnedError swallowed(Throwable cause, String noticed) {
        return fail(null, null, noticed, cause, null, null);
    }

    /** @param owner the class whose method was called, and {@code receiver} the object, if they are known */
    private PinnedError fail(String where, String call, String noticed, Throwable cause, String owner, Object receiver) {
        // With flags the library's own methods, which are called from here, would save their frames.
        active = false;
        PinnedError error;
        try {
            String what = noticed == null ? foreign(where, call) : hidden(noticed, cause);
            String other = OtherMode.problem(owner, receiver, target(execution.delimited), target(execution.current));
            if (other != null) {
                what = other + " (" + what + ")";
            }
            error = Traces.refused(new PinnedError("cannot suspend: " + what + details(), cause), primitive, innermost);
        } catch (VirtualMachineError e) {
            giveUp(e);
            throw e;
        }
        giveUp(error);
        return error;
    }

    private static Object target(Coroutine c) {
        return c == null ? null : c.target();
    }

    private String foreign(String where, String call) {
        return where.replace("main$pico$body", "main") + (call == null ? " made a call that led to " : " called " + call + ", which led to ")
            + (left == null ? "?" : left) + " through a method that is not transformed";
    }

    private String hidden(String noticed, Throwable cause) {
        return "a method that is not transformed, and has called " + (left == null ? "?" : left) + ", has caught the error that suspends the thread, and "
            + (cause == null ? "gone on" : "thrown " + cause.getClass().getName()) + "; noticed as " + noticed;
    }

    private String details() {
        return " (the thread: " + (execution.current == null ? "?" : execution.current.label()) + "; it blocks in " + (primitive == null ? "?" : primitive)
            + "; frames saved so far: " + names() + "); see \"What to know\" in java/README.md";
    }

    /** A primitive that is called while frames are unwound: there is nothing to unwind for it. */
    PinnedError refuseNext(MethodInfo primitive) {
        undo();
        return new PinnedError("cannot suspend: " + primitive + " was called by a method that is being left, as the thread could not be suspended before,"
            + " because of a method that is not transformed or an error of the JVM");
    }

    /**
     * An exception that is no {@code Suspend} has come while frames are being saved.
     *
     * @return what the program gets: that error if saving a frame has caused it, else a {@link PinnedError}
     */
    Throwable endedBy(Throwable thrown, String noticed) {
        if (thrown instanceof VirtualMachineError || thrown instanceof LinkageError) {
            giveUp(thrown);
            return thrown;
        }
        return swallowed(thrown, noticed);
    }

    /** The frames are saved, but they are more than there may be: undoes what the primitive has begun. */
    Throwable tooDeep(Frame all) {
        undo();
        return Traces.thrownBy(new StackOverflowError("a thread blocks in more calls than it may be deep, which -Dlamprey.maxDepth sets (PicoRuntime.Builder.maxDepth)"), all);
    }

    /** The thread goes on: undoes what the primitive has begun, and lets {@code error} leave the frames that were saved. */
    private void giveUp(Throwable error) {
        Frame saved = innermost;
        abandon();
        undo();
        if (saved != null) {
            Unwinding.of(execution, saved, error);
        }
    }

    private void undo() {
        Coroutine current = execution.current;
        if (current != null && !delimited) {
            current.suspensionFailed();
        }
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
