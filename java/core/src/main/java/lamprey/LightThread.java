package lamprey;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.concurrent.locks.LockSupport;
import lamprey.channel.IVar;
import lamprey.instrument.Coroutine;
import lamprey.instrument.Monitors;
import lamprey.instrument.Primitive;

/**
 * What a thread is to the scheduler: its phase, its permit to go on, its interrupt, what it waits for, and those that wait for its end. {@link PicoThread} adds what
 * {@link Thread} offers. The fields are few, as a million threads have them: what is seldom needed is in {@link Details}.
 *
 * <p><b>Parking by permit</b> ({@link Parking#park}). Bits of {@link #state}: PERMIT, INTERRUPTED, PARKED. The carrier sets PARKED after the frames are
 * saved, only if neither of the others is set, else the thread is ready at once. Whoever clears PARKED makes it ready. PARKED and PERMIT are never both set.
 *
 * <p><b>Waiting by a blocker</b>: see {@link Blocker}. {@link #blocker} is written by the thread before it is suspended and cleared by the carrier
 * that resumes it. An interrupt first sets INTERRUPTED, then reads the blocker; the carrier that has saved the frames first had the blocker written, then reads
 * INTERRUPTED. One of them sees the other.
 *
 * <p><b>Who may touch what.</b> {@link #next} belongs to the queue that the thread is in. {@link #timer}, {@link #uninterruptible}: the thread while it runs, its
 * carrier between. {@link #previousLive} and {@link #nextLive}: the registry, under its lock.
 */
abstract class LightThread extends Coroutine {
    static final int STARTED = 1;
    static final int INTERRUPTED = 2;
    static final int PERMIT = 4;
    static final int PARKED = 8;
    /** Somebody has waited on the monitor of this object, so the end notifies. */
    static final int WATCHED = 16;
    /** A wait() that began after the end has returned at once. */
    static final int END_SEEN = 32;

    static final AtomicIntegerFieldUpdater<LightThread> STATE =
        AtomicIntegerFieldUpdater.newUpdater(LightThread.class, "state");
    private static final AtomicReferenceFieldUpdater<LightThread, Joiner> JOINERS =
        AtomicReferenceFieldUpdater.newUpdater(LightThread.class, Joiner.class, "joiners");

    volatile int state;
    /** What the thread waits for; null while it runs or is ready by {@link PicoThread#yield()}; may be stale for a moment after it has been made ready. */
    volatile Blocker blocker;
    /** Those that wait for the end; {@link Joiner#ENDED} after it. */
    private volatile Joiner joiners;
    /** What is seldom needed; null until it is. */
    volatile Details details;
    /** Null until it is started; of a kernel thread that was not started by this library, null. */
    PicoRuntime runtime;
    Runnable target;
    /** Limits the present wait; null for none. */
    Timer timer;
    PicoThread next;
    PicoThread previousLive;
    PicoThread nextLive;
    /** Values of thread locals; null until there is one. */
    Locals locals;
    boolean uninterruptible;
    boolean daemon;
    byte priority = Thread.NORM_PRIORITY;
    /** 1 + the index of the part of the registry that the thread is in; 0 for none. */
    byte registered;

    /** What is seldom needed. */
    static final class Details {
        volatile String name;
        long id;
        /** The kernel (or virtual) thread that runs it; null for a coroutine. */
        volatile Thread kernel;
        /** While it waits together with its carrier; else null. */
        volatile HeldWait held;
        /** The wait, and the wake, that the flight recorder is told of when they are over. Of whoever may touch the thread's wait. */
        Flight.Event block;
        Flight.Event wake;
        PicoThread.UncaughtExceptionHandler handler;
        /** Where it was started, if sites are kept; else null. */
        volatile StackTraceElement site;
        /** In bytes, as the program has asked for it; 0 if it has not. */
        long stackSize;
        /** The context class loader, which may be null; or {@link #SYSTEM}. */
        Object loader = SYSTEM;

        /** For the system's loader: no loader was set or inherited. */
        static final Object SYSTEM = new Object();
    }

    final Details details() {
        Details d = details;
        if (d == null) {
            synchronized (this) {
                d = details;
                if (d == null) {
                    d = new Details();
                    details = d;
                }
            }
        }
        return d;
    }

    /** The stack that the program has asked for; 0 if it has not. */
    final long stackSize() {
        Details d = details;
        return d == null ? 0 : d.stackSize;
    }

    final void stackSize(long bytes) {
        if (bytes > 0) {
            details().stackSize = bytes;
        }
    }

    /** The kernel or virtual thread that this is; null if it is a coroutine, or not started. */
    final Thread kernel() {
        Details d = details;
        return d == null ? null : d.kernel;
    }

    /** Not transformed: it has no frame of its own, and a thread that blocks in {@code run()} needs none for it. */
    @Primitive
    @Override
    protected final void body() throws Throwable {
        entry().run();
    }

    @Override
    protected final Object target() {
        return entry();
    }

    /** Whose {@code run()} is the thread's computation. */
    private Runnable entry() {
        Runnable t = target;
        return t != null && (getClass() == PicoThread.class || t instanceof Uncaught) ? t : (PicoThread) this;
    }

    /** Makes the thread ready, or wakes its kernel thread. Once for each time it is parked. */
    final void wake() {
        Thread k = kernel();
        HeldWait h = details == null ? null : details.held;
        if (Flight.on && k == null) {
            Flight.wakes(this);
        }
        if (k != null) {
            LockSupport.unpark(k);
        } else if (h != null) {
            h.wake();
        } else {
            runtime.ready((PicoThread) this);
        }
    }

    // ---- The permit.

    /** Whether {@link Parking#park} returns at once; takes the permit. */
    final boolean passes() {
        for (;;) {
            int s = state;
            if ((s & PERMIT) == 0) {
                return (s & INTERRUPTED) != 0;
            }
            if (STATE.compareAndSet(this, s, s & ~PERMIT)) {
                return true;
            }
        }
    }

    /** The carrier's step after the frames are saved: false if the thread is ready again. */
    final boolean parked() {
        for (;;) {
            int s = state;
            if ((s & (PERMIT | INTERRUPTED)) != 0) {
                if (STATE.compareAndSet(this, s, s & ~PERMIT)) {
                    return false;
                }
            } else if (STATE.compareAndSet(this, s, s | PARKED)) {
                return true;
            }
        }
    }

    /** Gives the permit. */
    final void unpark() {
        Thread k = kernel();
        if (k != null) {
            LockSupport.unpark(k);
            return;
        }
        for (;;) {
            int s = state;
            if ((s & PARKED) != 0) {
                if (STATE.compareAndSet(this, s, s & ~PARKED)) {
                    wake();
                    return;
                }
            } else if ((s & PERMIT) != 0 || STATE.compareAndSet(this, s, s | PERMIT)) {
                return;
            }
        }
    }

    // ---- Interrupts of coroutines; kernel threads have the JVM's.

    final void interruptLight() {
        for (;;) {
            int s = state;
            if (STATE.compareAndSet(this, s, (s | INTERRUPTED) & ~PARKED)) {
                if ((s & PARKED) != 0) {
                    wake();
                    return;
                }
                break;
            }
        }
        Blocker b = blocker;
        if (b != null && b != Parking.PERMIT && !uninterruptible) {
            b.cancel(Blocker.Cause.INTERRUPT);
        }
    }

    /** Clears the interrupt; returns whether there was one. */
    final boolean clearInterrupt() {
        for (;;) {
            int s = state;
            if ((s & INTERRUPTED) == 0) {
                return false;
            }
            if (STATE.compareAndSet(this, s, s & ~INTERRUPTED)) {
                return true;
            }
        }
    }

    @Override
    protected final String label() {
        return ((PicoThread) this).getName();
    }

    // ---- A suspension that failed.

    @Override
    protected final void suspensionFailed() {
        Blocker b = blocker;
        timer = null;
        blocker = null;
        if (b != null && b != Parking.PERMIT) {
            b.suspensionFailed();
        }
    }

    // ---- The end.

    final boolean hasEnded() {
        return joiners == Joiner.ENDED;
    }

    /** The thread has ended. */
    final void end() {
        Joiner j = JOINERS.getAndSet(this, Joiner.ENDED);
        while (j != null) {
            Joiner after = j.next;
            j.deliver(null);
            j.ended(null);
            j = after;
        }
        if ((state & WATCHED) != 0) {
            Monitors.threadEnded((PicoThread) this);
        }
    }

    /**
     * A thread that owns this object's monitor is about to wait on it: the end will notify it. Either that wait sees the end or the end sees WATCHED, as both are written
     * before the other is read.
     *
     * @return whether the wait must return at once: the caller may have seen this thread alive, while it owned the monitor, and the end came since, without the monitor. Only the
     *     first to wait after the end can be in this case.
     */
    final boolean watchEnd() {
        for (;;) {
            int s = state;
            if ((s & WATCHED) != 0 && !hasEnded()) {
                return false;
            }
            boolean first = hasEnded() && (s & END_SEEN) == 0;
            int t = s | WATCHED | (first ? END_SEEN : 0);
            if (STATE.compareAndSet(this, s, t)) {
                return first;
            }
        }
    }

    /** The runtime has been closed: the thread will not go on. Those that wait for its end are told, as far as they are not of that runtime too. */
    final void lost(Throwable why) {
        if (kernel() == null) {
            for (Joiner j = joiners; j != null && j != Joiner.ENDED; j = j.next) {
                Throwable error = new IllegalStateException("the runtime has been closed, and the thread it waits for was lost: " + getClass().getName(), why);
                j.fail(error);
                j.ended(error);
            }
        }
    }

    /** Adds one that waits for the end. Returns false if the thread has ended. */
    final boolean add(Joiner j) {
        for (;;) {
            Joiner first = joiners;
            if (first == Joiner.ENDED) {
                return false;
            }
            Joiner open = first;
            while (open != null && open.isDone()) {
                open = open.next;
            }
            j.next = open;
            if (JOINERS.compareAndSet(this, first, j)) {
                return true;
            }
        }
    }

    /** Happens at the end. All who ask get the same one, so a choice that is made again and again leaves nothing behind. */
    final IVar<Void> ending() {
        for (Joiner j = joiners; j != null && j != Joiner.ENDED; j = j.next) {
            if (j instanceof Ending) {
                return ((Ending) j).end;
            }
        }
        Ending e = new Ending();
        if (!add(e)) {
            e.ended(null);
        } else if (runtime.stopped) {
            lost(null);
        }
        return e.end;
    }

    /** Does not wait: makes an event of the end. */
    private static final class Ending extends Joiner {
        final IVar<Void> end = new IVar<>();

        Ending() {
            super(null, null);
        }

        @Override
        void ended(Throwable lost) {
            if (lost == null) {
                end.tryPut(null);
            } else {
                end.tryFail(() -> new IllegalStateException(lost.getMessage(), lost));
            }
        }
    }

    /** A wait for the end of a thread. */
    static class Joiner extends Blocker {
        static final Joiner ENDED = new Joiner(null, null);
        /** Whose end is waited for. */
        final PicoThread joined;
        Joiner next;

        Joiner(PicoThread waiting, PicoThread joined) {
            super(waiting);
            this.joined = joined;
        }

        /** After it has been completed: by the end, or as the thread was lost. */
        void ended(Throwable lost) {}

        @Override
        protected WaitReason reason() {
            return WaitReason.JOIN;
        }

        @Override
        protected String detail() {
            return joined == null ? null : "it joins " + joined.shown();
        }

        @Override
        protected List<PicoThread> holders() {
            return joined == null ? Collections.emptyList() : Collections.singletonList(joined);
        }
    }

    /** Runs an uncaught exception's handler, as the last thing that the thread does. */
    static final class Uncaught implements Runnable {
        private final PicoThread thread;
        private final PicoThread.UncaughtExceptionHandler handler;
        private final Throwable error;

        Uncaught(PicoThread thread, PicoThread.UncaughtExceptionHandler handler, Throwable error) {
            this.thread = thread;
            this.handler = handler;
            this.error = error;
        }

        @Override
        public void run() {
            handler.uncaughtException(thread, error);
        }
    }
}
