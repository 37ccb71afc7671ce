package lamprey;

import java.util.concurrent.locks.LockSupport;

/** Blocking of kernel threads, and of virtual threads of the JVM. The interrupt and the permit are the JVM's. */
final class KernelParking {
    private KernelParking() {}

    /** A wait for the permit: another object for each, so that whoever looks twice sees whether it is the same one ({@link Standstill}). */
    static final class PermitWait {
        final PicoThread thread;

        PermitWait(PicoThread thread) {
            this.thread = thread;
        }
    }

    static void park(long nanos) {
        PicoThread t = PicoThread.currentThread();
        Object wait = new PermitWait(t);
        t.blocker = Parking.PERMIT;
        if (nanos == Long.MAX_VALUE) {
            LockSupport.park(wait);
        } else {
            LockSupport.parkNanos(wait, nanos);
        }
        t.blocker = null;
    }

    /** See {@link Parking#await(Blocker, long)}. */
    static Object await(Blocker b, long nanos, boolean interruptible) {
        PicoThread t = PicoThread.currentThread();
        Carrier.check(b, t);
        if (!b.isDone()) {
            t.blocker = b;
            b.suspended();
            if (b.parked() && waitFor(b, nanos, interruptible)) {
                Thread.currentThread().interrupt();
            }
            t.blocker = null;
        }
        if (b.interrupted()) {
            Thread.interrupted();
        }
        Throwable error = b.error();
        if (error != null) {
            throw Parking.<RuntimeException>sneak(error);
        }
        return b.value();
    }

    /**
     * Waits. An interrupt that does not end the wait is cleared, as the JVM does not park an interrupted thread.
     *
     * @return whether to set it again
     */
    private static boolean waitFor(Blocker b, long nanos, boolean interruptible) {
        boolean interrupted = false;
        boolean limited = nanos != Long.MAX_VALUE;
        boolean mayEnd = interruptible;
        long deadline = limited ? System.nanoTime() + Math.max(nanos, 0) : 0;
        while (!b.isDone()) {
            if (mayEnd && Thread.currentThread().isInterrupted()) {
                mayEnd = false;
                if (b.cancel(Blocker.Cause.INTERRUPT)) {
                    break;
                }
            }
            if (!mayEnd) {
                interrupted |= Thread.interrupted();
            }
            long left = limited ? deadline - System.nanoTime() : Long.MAX_VALUE;
            if (left <= 0) {
                limited = false;
                b.cancel(Blocker.Cause.TIMEOUT);
            } else if (limited) {
                LockSupport.parkNanos(b, left);
            } else {
                LockSupport.park(b);
            }
        }
        return interrupted && !b.interrupted();
    }
}
