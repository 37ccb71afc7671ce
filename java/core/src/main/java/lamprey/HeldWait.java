package lamprey;

import java.util.concurrent.locks.LockSupport;

/**
 * A wait of a light thread within a static initialiser: it keeps its carrier, which is parked, since the JVM would not let another kernel thread go on with the
 * initialiser.
 *
 * <p><b>States</b> as of any wait: see {@link Blocker} and {@link LightThread}. {@link LightThread#wake()}, which is called once after the thread counts as parked, sets
 * {@link #woken} instead of making the thread ready. The thread goes on only after that, so no call of {@code wake()} comes later than the wait.
 *
 * <p><b>Not all carriers.</b> At least one carrier of a runtime is left, or can still be added ({@link Crew}), to run the threads that are waited for; a wait that would take the
 * last one fails with a {@link lamprey.instrument.PinnedError}. A wait of more than a second is reported by {@link Watch}, as is one for a class that is being initialised here.
 */
final class HeldWait {
    private final Carrier carrier;
    private volatile boolean woken;

    private HeldWait(Carrier carrier) {
        this.carrier = carrier;
    }

    /** Takes the carrier, if one can be spared; yielding does not need it. */
    static boolean begin(Carrier c) {
        PicoRuntime runtime = c.runtime;
        if (c.running.blocker == null) {
            return true;
        }
        for (;;) {
            int n = runtime.crew.held.get();
            if (n + 1 >= runtime.crew.most()) {
                return false;
            }
            if (runtime.crew.held.compareAndSet(n, n + 1)) {
                return true;
            }
        }
    }

    /** Waits for what the running thread's {@code blocker} says, after {@link #begin}; returns or throws what it ends with. */
    static Object await(Carrier c) {
        PicoThread t = c.running;
        Blocker b = t.blocker;
        if (b == null) {
            Thread.yield();
            return null;
        }
        try {
            HeldWait w = new HeldWait(c);
            t.details().held = w;
            if (c.park(t, b)) {
                w.untilWoken();
            }
            t.details().held = null;
        } finally {
            c.runtime.crew.held.decrementAndGet();
        }
        t.blocker = null;
        if (t.timer != null) {
            c.runtime.timers.cancel(t.timer);
            t.timer = null;
        }
        if (b == Parking.PERMIT) {
            return null;
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

    private void untilWoken() {
        while (!woken) {
            LockSupport.park(this);
        }
    }

    /** Whether it goes on. */
    boolean isOpen() {
        return !woken;
    }

    /** The wait has ended. */
    void wake() {
        woken = true;
        LockSupport.unpark(carrier);
    }
}
