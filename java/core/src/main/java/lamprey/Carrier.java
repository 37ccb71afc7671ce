package lamprey;

import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import lamprey.instrument.CarrierThread;
import lamprey.instrument.MethodInfo;
import lamprey.instrument.PinnedError;
import lamprey.instrument.Primitive;
import lamprey.instrument.Traces;

/**
 * A kernel thread that runs light threads, one after the other: takes a ready one, resumes it until it is suspended or ends, and sees to it that it will
 * be woken.
 */
final class Carrier extends CarrierThread {
    private static final AtomicLongFieldUpdater<Carrier> STARTED = AtomicLongFieldUpdater.newUpdater(Carrier.class, "started");
    private static final AtomicLongFieldUpdater<Carrier> ENDED = AtomicLongFieldUpdater.newUpdater(Carrier.class, "ended");

    final PicoRuntime runtime;
    /** The queue of its place, or {@link Crew#outside} once it has been replaced. Written by {@link Crew} only, read anew for each step of the carrier. */
    volatile ReadyQueue queue;
    /** Its place among the runtime's carriers. */
    final int index;
    /** What the watch has seen of it; belongs to the watch. */
    final Watch.Seen seen = new Watch.Seen();
    /** The thread that runs; null between two. */
    PicoThread running;
    /** Threads that are no daemons and were started, and ended, here. Written by this carrier only. */
    volatile long started;
    volatile long ended;
    /** How often it has looked for a thread. */
    int tick;
    /** Whether it has been woken, while it is idle. */
    volatile boolean woken;

    Carrier(PicoRuntime runtime, ReadyQueue queue, int index, String name) {
        super(null, name);
        execution().setMaxDepth(runtime.maxDepth);
        setDaemon(true);
        this.index = index;
        this.runtime = runtime;
        this.queue = queue;
    }

    /** The carrier of the calling light thread; null if a kernel thread calls. */
    static Carrier running() {
        Thread t = Thread.currentThread();
        if (t instanceof Carrier) {
            Carrier c = (Carrier) t;
            if (c.running != null) {
                return c;
            }
        }
        return null;
    }

    static void check(Blocker b, PicoThread waiting) {
        if (b.thread != waiting) {
            throw new IllegalArgumentException("a Blocker of " + b.thread + " cannot be awaited by " + waiting);
        }
    }

    // ---- Called by the thread that runs.

    /** Sleeps. */
    @Primitive
    void sleep(long nanos, MethodInfo primitive) throws InterruptedException {
        PicoThread t = running;
        if (t.clearInterrupt()) {
            throw new InterruptedException("sleep interrupted");
        }
        if (nanos > 0) {
            Timer timer = new Timer(t, runtime.deadline(nanos));
            t.uninterruptible = false;
            t.timer = timer;
            t.blocker = timer;
        }
        suspend(primitive);
    }

    /** Suspends the running thread; its {@code blocker} says for what. */
    @Primitive
    @SuppressWarnings("unchecked")
    <T> T suspend(MethodInfo primitive) {
        if (execution().running() != running) {
            running.suspensionFailed();
            throw new PinnedError(primitive + " would block the thread from within a continuation that it runs; a continuation can only suspend itself");
        }
        if (initialises() && HeldWait.begin(this)) {
            return (T) HeldWait.await(this);
        }
        return execution().suspend(primitive);
    }

    /** See {@link Parking#await(Blocker, long)}. */
    @Primitive
    Object await(Blocker b, long nanos, boolean interruptible, MethodInfo primitive) {
        PicoThread t = running;
        check(b, t);
        if (interruptible && (t.state & LightThread.INTERRUPTED) != 0) {
            b.cancel(Blocker.Cause.INTERRUPT);
        }
        if (nanos <= 0) {
            b.cancel(Blocker.Cause.TIMEOUT);
        }
        if (!b.isDone()) {
            t.uninterruptible = !interruptible;
            if (nanos > 0 && nanos != Long.MAX_VALUE) {
                t.timer = new Timer(t, b, runtime.deadline(nanos));
            }
            t.blocker = b;
            return suspend(primitive);
        }
        if (b.interrupted()) {
            t.clearInterrupt();
        }
        Throwable error = b.error();
        if (error != null) {
            throw Parking.<RuntimeException>sneak(error);
        }
        return b.value();
    }

    // ---- The loop.

    @Override
    public void run() {
        try {
            PicoThread t;
            while ((t = runtime.idlers.next(this)) != null) {
                resume(t);
            }
        } catch (Throwable e) {
            // A fault of a scheduler that the program has written, or of this library: threads would be lost.
            runtime.broken(e);
        }
        if (runtime.stopped) {
            runtime.loseAll();
        } else {
            runtime.crew.retire(this);
        }
    }

    private void resume(PicoThread t) {
        Object value = null;
        Throwable error = null;
        Blocker b = t.blocker;
        if (Flight.on) {
            Flight.resumes(t, b);
        }
        if (b != null) {
            t.blocker = null;
            Timer timer = t.timer;
            if (timer != null) {
                t.timer = null;
                runtime.timers.cancel(timer);
            }
            if (b != Parking.PERMIT) {
                error = b.error();
                value = b.value();
                if (b.interrupted()) {
                    t.clearInterrupt();
                    Traces.thrownBy(error, t.savedFrames());
                }
            }
        }
        running = t;
        boolean suspended;
        Throwable thrown = null;
        Flight.Event run = Flight.on ? Flight.runs() : null;
        try {
            suspended = t.resumeOn(execution(), value, error);
        } catch (Throwable e) {
            suspended = false;
            thrown = e;
        }
        running = null;
        if (run != null) {
            Flight.ran(run, t);
        }
        if (suspended) {
            settle(t);
        } else {
            finish(t, thrown);
        }
    }

    /** The thread's frames are saved. After {@code parked()} has returned true it may run elsewhere: nothing of it is touched then. */
    private void settle(PicoThread t) {
        Blocker b = t.blocker;
        if (b == null) {
            queue.yielded(t);
            return;
        }
        if (t.registered == 0) {
            runtime.registry.add(t);
        }
        if (Flight.on) {
            Flight.blocks(t);
        }
        if (!park(t, b)) {
            queue.ready(t);
        }
    }

    /** Lets what the thread waits for begin: false if it has ended already. After true it may be woken at any time. */
    boolean park(PicoThread t, Blocker b) {
        Timer timer = t.timer;
        boolean interruptible = !t.uninterruptible;
        if (b == Parking.PERMIT) {
            if (timer != null) {
                runtime.start(timer);
            }
            return t.parked();
        }
        if (b.runsProgramCode()) {
            running = t;
            b.suspended();
            running = null;
        } else {
            b.suspended();
        }
        if (timer != null) {
            runtime.start(timer);
        }
        if (interruptible && (t.state & LightThread.INTERRUPTED) != 0) {
            b.cancel(Blocker.Cause.INTERRUPT);
        }
        return b.parked();
    }

    private void finish(PicoThread t, Throwable thrown) {
        if (thrown != null) {
            Runnable last = t.uncaught(thrown);
            if (last != null) {
                t.target = last;
                queue.ready(t);
                return;
            }
        }
        if (t.registered != 0) {
            runtime.registry.remove(t);
        }
        if (!t.daemon) {
            ENDED.lazySet(this, ended + 1);
        }
        t.end();
    }

    /** Counts a thread that is no daemon and is started here. */
    void countStart() {
        STARTED.lazySet(this, started + 1);
    }
}
