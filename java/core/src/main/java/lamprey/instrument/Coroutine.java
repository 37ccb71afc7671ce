package lamprey.instrument;

/**
 * A computation that can be suspended and resumed: the frames of its transformed methods, while it is suspended, and the loop that runs them. Threads
 * are built on it; it knows nothing of schedulers.
 *
 * <p><b>Lazy thaw.</b> Only the innermost frame is resumed. When its method returns, or throws, the loop hands the result to the frame of its
 * caller. If it suspends again, the frames below have never been touched: a suspension costs the frames that are new, whatever the depth.
 *
 * <p><b>Who may touch what.</b> {@link #top} belongs to the kernel thread that runs the coroutine; between two runs, to whoever will run it next. The
 * scheduler that hands a coroutine from one kernel thread to another orders these (its queue is the happens-before edge).
 */
public abstract class Coroutine {
    /** The innermost saved frame; null before the first run, while none is saved, and after the end. */
    Frame top;

    /** A coroutine that has not started. */
    protected Coroutine() {}

    /** The computation. Must be transformed if it suspends; it is called once, by {@link #resume()}. */
    protected abstract void body() throws Throwable;

    /**
     * The object whose method {@code run()V} is called by {@link #body()}, if body calls nothing else and is not transformed itself; null if
     * body is itself transformed.
     */
    protected Object target() {
        return null;
    }

    /**
     * A suspension failed, as a method that is not transformed is in the way: the primitive that asked for it must be undone. After that, its caller
     * gets a {@link PinnedError}.
     */
    protected void suspensionFailed() {}

    /** Its name in messages. Calls no code of the program. */
    protected String label() {
        return getClass().getName();
    }

    /** The saved frames, innermost first; null if there are none. */
    protected final Frame frames() {
        return top;
    }

    /** Puts frames that were read from outside into a list, innermost first, and makes them the saved ones. */
    protected final void frames(Frame[] innermostFirst) {
        Frame caller = null;
        for (int i = innermostFirst.length - 1; i >= 0; i--) {
            innermostFirst[i].caller = caller;
            caller = innermostFirst[i];
        }
        top = caller;
    }

    /**
     * Runs until it suspends or ends. The primitive that had suspended returns {@code value}, or throws {@code error} if that is not null.
     *
     * @return true if it suspended, false if it has ended
     * @throws Throwable what the computation has thrown, at its end
     */
    protected final boolean resume(Execution e, Object value, Throwable error) throws Throwable {
        Coroutine outer = e.current;
        e.current = this;
        try {
            return run(e, value, error);
        } finally {
            e.current = outer;
        }
    }

    /**
     * As {@link #resume}, but the coroutine that runs already, if any, stays the running one: a blocking call of a thread inside this computation
     * is that coroutine's. The innermost such computation is {@link Execution#delimited()}.
     */
    protected final boolean resumeWithin(Execution e, Object value, Throwable error) throws Throwable {
        Coroutine outer = e.delimited;
        e.delimited = this;
        try {
            return run(e, value, error);
        } finally {
            e.delimited = outer;
        }
    }

    private boolean run(Execution e, Object value, Throwable error) throws Throwable {
        Resume r = e.resume;
        r.ref = value;
        r.error = error;
        Frame frame = top;
        Throwable stitched = null;
        if (frame == null) {
            if (start(e)) {
                return true;
            }
            frame = top;
            if (r.error != null && frame == null) {
                Traces.stitch(r.error, null, null);
            }
            stitched = r.error;
        }
        while (frame != null) {
            Frame caller = frame.caller;
            top = caller;
            try {
                frame.resume(r);
                if (r.caught) {
                    r.caught = false;
                    if (suspended(e, frame, caller)) {
                        return true;
                    }
                } else {
                    r.error = null;
                    if (r.ref instanceof Throwable) {
                        Traces.returned((Throwable) r.ref, frame, caller);
                    }
                    if (e.suspend.active && returnedWhileActive(e, frame.method().toString()) && suspended(e, frame, caller)) {
                        return true;
                    }
                }
            } catch (Suspend s) {
                if (suspended(e, frame, caller)) {
                    return true;
                }
            } catch (Throwable t) {
                r.error = e.suspend.active ? e.suspend.endedBy(t, "that ended " + frame.method()) : t;
            }
            if (r.error != null && r.error != stitched) {
                stitched = r.error;
                Traces.stitch(stitched, frame, caller);
            }
            // The caller, or, where saving the frames has shown that they are too many, the innermost of them.
            frame = top;
        }
        Throwable thrown = r.error;
        r.ref = null;
        r.error = null;
        if (thrown != null) {
            throw thrown;
        }
        return false;
    }

    /** The first run. Returns whether it has suspended. */
    private boolean start(Execution e) {
        try {
            body();
            e.resume.error = null;
            return e.suspend.active && returnedWhileActive(e, "the thread") && startSuspended(e);
        } catch (Suspend s) {
            return startSuspended(e);
        } catch (Throwable t) {
            e.resume.error = e.suspend.active ? e.suspend.endedBy(t, "that ended the thread") : t;
            return false;
        }
    }

    private boolean startSuspended(Execution e) {
        Suspend s = e.suspend;
        Object target = target();
        boolean direct = target == null ? s.left != null && s.left.name.equals("body") : RUN.get(target.getClass()).leadsTo(s.left, target);
        if (!s.active || s.outermost == null || !direct) {
            e.resume.error = s.refuse("the start of the thread", target == null ? "body()" : "run() of " + target.getClass().getName(), null);
            return false;
        }
        return keep(s, null, e);
    }

    /** With flags that is how a method suspends; else a {@link Suspend} was caught on its way, and the thread has gone on. */
    private static boolean returnedWhileActive(Execution e, String what) {
        if (!Built.WITH_FLAGS) {
            e.resume.error = e.suspend.swallowed(null, what + " ended");
        }
        return Built.WITH_FLAGS;
    }

    /** The call of {@code run()} by {@link #body()}, for each class of targets: a program starts threads of many. */
    private static final ClassValue<Site> RUN = new ClassValue<Site>() {
        @Override
        protected Site computeValue(Class<?> target) {
            return Site.parse("i java/lang/Runnable run ()V -1");
        }
    };

    /** The resumed frame has suspended again: its saved form is the outermost of the new ones, or a method that is not transformed hid it. */
    private boolean suspended(Execution e, Frame resumed, Frame caller) {
        Suspend s = e.suspend;
        if (!s.active || s.outermost == null || s.left != resumed.method()) {
            e.resume.error = s.refuse(resumed.method() + ", resumed,", null, null);
            return false;
        }
        return keep(s, caller, e);
    }

    /** Returns false if it cannot be suspended, as it is too deep: the innermost frame gets the error. */
    private boolean keep(Suspend s, Frame caller, Execution e) {
        s.outermost.caller = caller;
        Frame innermost = s.innermost;
        top = innermost;
        s.abandon();
        if (s.saved - e.nextLook >= 0 && e.isTooDeep(innermost)) {
            e.resume.error = s.tooDeep(innermost);
            return false;
        }
        return true;
    }
}
