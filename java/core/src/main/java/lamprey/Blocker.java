package lamprey;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

/**
 * One wait of one thread: made by the thread that is about to wait, given to whoever will wake it, and then passed to {@link Parking#await(Blocker)}.
 * It is completed once, by the first of {@link #deliver}, {@link #fail}, an interrupt, or the end of the time limit; the others return false and
 * do nothing. It may be completed before the thread waits, while it is being suspended, or later. It is not used again.
 *
 * <p><b>States</b> of {@link #outcome}: null (open: the thread runs or is being suspended), {@code PARKED} (open: the thread is suspended), anything else
 * (done: what the wait ends with).
 *
 * <p><b>Transitions</b>, each a compare-and-set: null to PARKED by the carrier, after it has saved the thread's frames; null or PARKED to done by
 * whoever completes. Whoever moves PARKED to done makes the thread ready; if the carrier finds that it is done already, the carrier does. So the thread is
 * made ready exactly once, and never before its frames are saved.
 *
 * <p><b>Interrupt, time limit, failed suspension.</b> These first ask {@link #withdraw}. A subclass whose right to deliver is decided elsewhere (a choice
 * among several offers, say) decides there and returns false if a delivery has already been decided on: the thread then goes on waiting for it.
 *
 * <p><b>Memory.</b> 24 bytes; a subclass with one or two references has 32.
 */
public abstract class Blocker {
    /** Why a wait ends without a delivery. */
    public enum Cause {
        /** The thread has been interrupted. */
        INTERRUPT,
        /** The time limit has passed. */
        TIMEOUT,
        /** The thread could not be suspended: {@link lamprey.instrument.PinnedError}. */
        PINNED
    }

    static final Object PARKED = new Object();
    private static final Object NULL = new Object();
    private static final AtomicReferenceFieldUpdater<Blocker, Object> OUTCOME =
        AtomicReferenceFieldUpdater.newUpdater(Blocker.class, Object.class, "outcome");

    /** An exception that the wait ends with. */
    private static final class Failure {
        final Throwable error;

        Failure(Throwable error) {
            this.error = error;
        }
    }

    final PicoThread thread;
    /** When the wait began, by {@link CoarseClock}. */
    final int since = CoarseClock.now();
    private volatile Object outcome;

    /** A wait of the calling thread. */
    protected Blocker() {
        this(PicoThread.currentThread());
    }

    /** A wait of {@code thread}, which must be the calling thread. */
    protected Blocker(PicoThread thread) {
        this.thread = thread;
    }

    /** The thread that waits. */
    public final PicoThread thread() {
        return thread;
    }

    /** Ends the wait with this value. Returns false, and does nothing, if it has ended. Never blocks; from any thread. */
    public final boolean deliver(Object value) {
        return complete(value == null ? NULL : value);
    }

    /** Ends the wait by throwing {@code error} in the waiting thread. Returns false, and does nothing, if it has ended. Never blocks; from any thread. */
    public final boolean fail(Throwable error) {
        return complete(new Failure(error));
    }

    /** Whether the wait has ended. */
    public final boolean isDone() {
        Object o = outcome;
        return o != null && o != PARKED;
    }

    /** What the thread waits for. */
    protected WaitReason reason() {
        return WaitReason.OTHER;
    }

    /** More about it, for a dump; may be null. Calls no code of the program. */
    protected String detail() {
        return null;
    }

    /**
     * The threads each of which must go on before the wait can end, as far as they are known: who has the lock, who is joined. Asked at any moment, from any thread; never blocks. A wait
     * that somebody else may end has none.
     */
    protected List<PicoThread> holders() {
        return Collections.emptyList();
    }

    /**
     * The thread's frames have been saved. Called by its carrier (on a kernel thread: by itself) before the thread counts as suspended; may complete this
     * blocker. What must not happen if suspending fails, such as releasing a lock, belongs here. Must not block or throw.
     */
    protected void suspended() {}

    /**
     * The wait is to end without a delivery. Called by whoever interrupts the thread, by the timer, or by the thread itself, possibly at the same time.
     * Must not block or throw.
     *
     * @return true to allow it; false if the blocker will be completed otherwise, or has been
     */
    protected boolean withdraw(Cause cause) {
        return true;
    }

    /**
     * The delivery came, but the thread could not be suspended, and the program gets a {@link lamprey.instrument.PinnedError} instead: gives {@code value}
     * back, if that is possible. Called by the thread. Must not block.
     */
    protected void refused(Object value) {}

    /**
     * The thread could not be suspended, and nothing was delivered: does what the thread's lost frames would have done, such as to leave a queue. Called
     * once, by the thread, after the wait has ended (perhaps by an interrupt). Must not block.
     */
    protected void abandoned() {}

    /** Suspending the thread has failed: afterwards the operation has happened or it has not, and nobody counts on the thread. By the thread. */
    final void suspensionFailed() {
        if (!cancel(Cause.PINNED)) {
            while (!isDone()) {
                // Another thread has decided on a delivery and is about to make it.
                Thread.yield();
            }
        }
        Object o = outcome;
        if (o instanceof Cause || o instanceof Failure) {
            abandoned();
        } else {
            refused(value());
        }
    }

    /** Whether {@link #suspended} calls code of a program, to which the thread that waits must be the current one. */
    protected boolean runsProgramCode() {
        return false;
    }

    /** Ends the wait without a delivery, for a subclass that has returned false from {@link #withdraw} and does it later. */
    protected final boolean end(Cause cause) {
        return complete(cause);
    }

    private boolean complete(Object result) {
        for (;;) {
            Object o = outcome;
            if (o != null && o != PARKED) {
                return false;
            }
            if (OUTCOME.compareAndSet(this, o, result)) {
                if (o == PARKED) {
                    thread.wake();
                }
                return true;
            }
        }
    }

    /** Ends the wait without a delivery, if that is allowed. */
    final boolean cancel(Cause cause) {
        return !isDone() && withdraw(cause) && complete(cause);
    }

    /** The carrier's step, or the kernel thread's: false if the wait has ended already. */
    final boolean parked() {
        return OUTCOME.compareAndSet(this, null, PARKED);
    }

    /** The exception that the wait has ended with; null if none. */
    final Throwable error() {
        Object o = outcome;
        if (o instanceof Failure) {
            return ((Failure) o).error;
        }
        return o != Cause.INTERRUPT ? null : this instanceof Timer ? new InterruptedException("sleep interrupted") : new InterruptedException();
    }

    /** What {@link Parking#await} returns, once it is done: the value, or {@link Cause#TIMEOUT}. */
    final Object value() {
        Object o = outcome;
        return o == NULL ? null : o;
    }

    final boolean interrupted() {
        return outcome == Cause.INTERRUPT;
    }
}
