package lamprey.continuation;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import lamprey.instrument.Execution;
import lamprey.instrument.Frame;
import lamprey.instrument.MethodInfo;
import lamprey.instrument.Primitive;
import lamprey.instrument.Suspendable;

/**
 * The rest of a computation, to be run once. {@link #run} goes on with the computation until it calls {@link #suspend} or ends, and returns what is
 * left then: <em>another</em> object. So an object of this class stands for one state of the computation, and running it twice is an error.
 *
 * <pre>
 * Continuation&lt;Integer, String&gt; k = Continuation.of(first -&gt; {
 *     int second = Continuation.suspend("got " + first);
 *     return "sum " + (first + second);
 * });
 * k = k.run(1);     // k.value() is "got 1"
 * k = k.run(2);     // k.value() is "sum 3", k.isDone()
 * </pre>
 *
 * <p>A suspended continuation can be written and read by a {@link ContinuationCodec}, also in another JVM. Writing uses it up as running does.
 *
 * <p>No scheduler is involved: the computation runs on the thread that calls {@code run}, light or kernel thread. If it calls a blocking method of a
 * thread, that thread blocks, in {@code run}. Continuations may be nested; {@code suspend} is of the innermost one that runs. The computation and
 * what it calls on the way to {@code suspend} must be transformed. A lock that is held across {@code suspend} belongs to the thread that took it: only that
 * thread can go on and leave it.
 *
 * <p><b>Invariant.</b> {@link #state} leaves READY by one compare-and-set only, so at most one call of {@code run}, {@code fail} or of a codec gets
 * the frames.
 *
 * @param <I> what is sent in
 * @param <O> what comes out
 */
public final class Continuation<I, O> {
    private static final int READY = 0;
    private static final int BEING_WRITTEN = 1;
    private static final int USED = 2;
    private static final int DONE = 3;

    private static final MethodInfo SUSPEND =
        MethodInfo.primitive(Continuation.class, "suspend", "(Ljava/lang/Object;)Ljava/lang/Object;");

    @SuppressWarnings("rawtypes")
    private static final AtomicIntegerFieldUpdater<Continuation> STATE =
        AtomicIntegerFieldUpdater.newUpdater(Continuation.class, "state");

    private final Delimited rest;
    private final Object value;
    private volatile int state;

    Continuation(Delimited rest, Object value, boolean done) {
        this.rest = rest;
        this.value = value;
        this.state = done ? DONE : READY;
    }

    /** Of a computation that has not started. */
    public static <I, O> Continuation<I, O> of(Computation<I, O> computation) {
        if (computation == null) {
            throw new NullPointerException("computation");
        }
        return new Continuation<>(new Delimited(computation), null, false);
    }

    /**
     * Suspends the computation that calls this. The {@link #run} that it runs in returns, with {@code value} as the new continuation's value. Returns
     * what that one is run with.
     *
     * @throws IllegalStateException if no continuation runs
     * @throws lamprey.instrument.PinnedError if a method that is not transformed is in the way
     */
    @Primitive
    public static <T> T suspend(Object value) {
        Execution e = Execution.current();
        if (e == null || e.delimited() == null) {
            throw new IllegalStateException("Continuation.suspend: no continuation runs on this thread; call it within Continuation.of(..).run(..)");
        }
        ((Delimited) e.delimited()).out = value;
        return e.suspendDelimited(SUSPEND);
    }

    /**
     * Goes on with the computation until it suspends or ends. Blocks as long as the computation blocks. An interrupt is the computation's affair.
     *
     * @param in what {@link #suspend} returns in the computation, or its first value
     * @return what is left
     * @throws IllegalStateException if this has been run, or written, or is the end
     * @throws Exception what the computation has thrown, at its end
     */
    @Suspendable
    public Continuation<I, O> run(I in) throws Exception {
        use("run");
        return rest.advance(in, null, Delimited.RUN);
    }

    /** As {@link #run}, but {@link #suspend} throws {@code error} in the computation; one that has not started ends with it at once. */
    @Suspendable
    public Continuation<I, O> fail(Throwable error) throws Exception {
        if (error == null) {
            throw new NullPointerException("error");
        }
        use("fail");
        return rest.advance(null, error, Delimited.FAIL);
    }

    /** Whether the computation has ended. {@link #value()} is its result then. */
    public boolean isDone() {
        return state == DONE;
    }

    /** What the computation has handed out: the argument of {@link #suspend}, or the result; null if it has not started. */
    @SuppressWarnings("unchecked")
    public O value() {
        return (O) value;
    }

    private void use(String what) {
        if (!STATE.compareAndSet(this, READY, USED)) {
            throw refusal(what);
        }
    }

    private IllegalStateException refusal(String what) {
        switch (state) {
            case DONE:
                return new IllegalStateException(what + ": the computation has ended");
            case BEING_WRITTEN:
                return new IllegalStateException(what + ": this continuation is being written");
            default:
                return new IllegalStateException(what + ": this continuation has been run or written already; go on with what run returned");
        }
    }

    /** For the codec: reserves this for writing. */
    Frame[] beginWriting() {
        if (!STATE.compareAndSet(this, READY, BEING_WRITTEN)) {
            throw refusal("write");
        }
        try {
            return rest.savedFrames();
        } catch (RuntimeException e) {
            endWriting(false);
            throw e;
        }
    }

    /** For the codec: this is used up if it has been written, else it is as it was. */
    void endWriting(boolean written) {
        state = written ? USED : READY;
    }

    Delimited rest() {
        return rest;
    }
}
