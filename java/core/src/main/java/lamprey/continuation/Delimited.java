package lamprey.continuation;

import java.util.ArrayList;
import java.util.List;
import lamprey.PicoThread;
import lamprey.instrument.Built;
import lamprey.instrument.Coroutine;
import lamprey.instrument.Execution;
import lamprey.instrument.Frame;
import lamprey.instrument.MethodInfo;
import lamprey.instrument.Resume;
import lamprey.instrument.Suspend;

/**
 * The coroutine behind the states of one {@link Continuation}.
 *
 * <p>This class is not transformed: the frames of its two methods that suspend are written by hand. {@link Start} is the frame of {@link #body}, the
 * outermost of each suspended computation; a reader makes it anew, so it is never written. {@link Outer} is the frame of {@code Continuation.run} in
 * the thread that runs it, when that thread blocks inside the computation.
 */
final class Delimited extends Coroutine {
    static final MethodInfo RUN = outer("run", "(Ljava/lang/Object;)Llamprey/continuation/Continuation;");
    static final MethodInfo FAIL = outer("fail", "(Ljava/lang/Throwable;)Llamprey/continuation/Continuation;");
    private static final MethodInfo BODY = MethodInfo.transformed(Delimited.class, "body", "()V", "Delimited.java", 1,
        "i lamprey/continuation/Computation run (Ljava/lang/Object;)Ljava/lang/Object; -1", "");

    /** What the computation hands out. Written by {@link Continuation#suspend}, read by {@link #advance} on the same kernel thread. */
    Object out;

    private final Computation<?, ?> computation;
    private boolean started;
    private Object first;
    private Object result;
    /** The thread that ran it last. */
    private PicoThread runner;

    Delimited(Computation<?, ?> computation) {
        this.computation = computation;
    }

    /** Of a computation that was read; innermost frame first. */
    Delimited(Frame[] frames) {
        this.computation = null;
        this.started = true;
        Frame[] all = java.util.Arrays.copyOf(frames, frames.length + 1);
        all[frames.length] = new Start(this);
        frames(all);
    }

    private static MethodInfo outer(String name, String desc) {
        return MethodInfo.transformed(Continuation.class, name, desc, "Continuation.java", 1,
            "s lamprey/continuation/Delimited advance ()V -1", "");
    }

    @Override
    @SuppressWarnings("unchecked")
    protected void body() throws Throwable {
        Suspend s;
        Object value = first;
        first = null;
        try {
            result = ((Computation<Object, Object>) computation).run(value);
            s = Execution.unwinding();
        } catch (Suspend thrown) {
            s = thrown;
        }
        if (s != null) {
            s.capture(new Start(this), BODY, computation);
            if (!Built.WITH_FLAGS) {
                throw s;
            }
        }
    }

    /** Goes on, and returns what is left. If the thread that runs this blocks, it is suspended, with {@code caller} as the method that it is in. */
    <I, O> Continuation<I, O> advance(Object value, Throwable error, MethodInfo caller) throws Exception {
        Execution e = Execution.currentOrNew();
        if (!started) {
            started = true;
            if (error != null) {
                throw Delimited.<RuntimeException>unchecked(error);
            }
            first = value;
        }
        runner = PicoThread.currentThread();
        boolean suspended;
        try {
            suspended = resumeWithin(e, value, error);
        } catch (Throwable t) {
            throw Delimited.<RuntimeException>unchecked(t);
        }
        if (!suspended) {
            return new Continuation<>(this, result, true);
        }
        if (!e.suspendedDelimited()) {
            return e.suspend(new Outer(this, caller));
        }
        Object handed = out;
        out = null;
        return new Continuation<>(this, handed, false);
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T unchecked(Throwable t) throws T {
        throw (T) t;
    }

    /** The frames of the program, innermost first. */
    Frame[] savedFrames() {
        if (!started) {
            throw new IllegalStateException("write: this continuation has not started; run it to its first suspend");
        }
        List<Frame> saved = new ArrayList<>();
        for (Frame f = frames(); f != null; f = f.caller()) {
            saved.add(f);
        }
        saved.remove(saved.size() - 1);
        HeldLocks.check(saved, runner);
        return saved.toArray(new Frame[0]);
    }

    private static final class Start extends Frame {
        private final transient Delimited of;

        Start(Delimited of) {
            this.of = of;
        }

        @Override
        public MethodInfo method() {
            return BODY;
        }

        @Override
        public void resume(Resume r) throws Throwable {
            if (r.error != null) {
                throw r.error;
            }
            of.result = r.ref;
        }
    }

    /** Not written: a continuation that a thread is running is not suspended. */
    private static final class Outer extends Frame {
        private final transient Delimited of;
        private final transient MethodInfo method;

        Outer(Delimited of, MethodInfo method) {
            this.of = of;
            this.method = method;
        }

        @Override
        public MethodInfo method() {
            return method;
        }

        @Override
        public void resume(Resume r) throws Throwable {
            Object left = of.advance(r.ref, r.error, method);
            r.ref = left;
        }
    }
}
