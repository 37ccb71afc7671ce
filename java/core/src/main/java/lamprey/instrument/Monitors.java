package lamprey.instrument;

import lamprey.Parking;
import lamprey.PicoRuntime;
import lamprey.PicoThread;

/**
 * The monitors of transformed code: {@code synchronized}, {@code wait}, {@code notify}. Owned by light threads, and by kernel threads that run such code, whatever
 * carrier runs them; any object has one. Called by generated code. Code that is not transformed uses the JVM's own monitors, which know nothing of these.
 *
 * <p>A monitor that is left goes straight to the thread that has waited longest. See {@link MonitorTable}.
 */
public final class Monitors {
    private static final MethodInfo ENTER = MethodInfo.primitive(Monitors.class, "enter", "(Ljava/lang/Object;)V");
    private static final MethodInfo WAIT = MethodInfo.primitive(Monitors.class, "wait", "(Ljava/lang/Object;)V");
    private static final MethodInfo WAIT_MILLIS = MethodInfo.primitive(Monitors.class, "wait", "(Ljava/lang/Object;J)V");
    private static final MethodInfo WAIT_NANOS = MethodInfo.primitive(Monitors.class, "wait", "(Ljava/lang/Object;JI)V");

    private Monitors() {}

    /** Enters the monitor of {@code o}: blocks while another thread owns it. Not ended by an interrupt. */
    @Primitive
    public static void enter(Object o) {
        PicoThread me = PicoThread.currentThread();
        if (!MonitorTable.tryEnter(o, me)) {
            Parking.block(new MonitorTable.Waiter(me, o, 1, false), Long.MAX_VALUE, false, ENTER);
        }
    }

    /** Enters the monitor of {@code o} if no other thread owns it; returns whether it did. Never blocks. */
    public static boolean tryEnter(Object o) {
        return MonitorTable.tryEnter(o, PicoThread.currentThread());
    }

    /**
     * Leaves the monitor of {@code o}.
     *
     * @throws IllegalMonitorStateException if the calling thread does not own it
     */
    public static void exit(Object o) {
        MonitorTable.exit(o, PicoThread.currentThread());
    }

    /** As {@link Object#wait()}. Blocks; an interrupt ends it. */
    @Primitive
    public static void wait(Object o) throws InterruptedException {
        wait(o, Long.MAX_VALUE, WAIT);
    }

    /** As {@link Object#wait(long)}. Blocks; an interrupt ends it. */
    @Primitive
    public static void wait(Object o, long millis) throws InterruptedException {
        wait(o, limit(millis, 0), WAIT_MILLIS);
    }

    /** As {@link Object#wait(long, int)}. Blocks; an interrupt ends it. */
    @Primitive
    public static void wait(Object o, long millis, int nanos) throws InterruptedException {
        wait(o, limit(millis, nanos), WAIT_NANOS);
    }

    private static long limit(long millis, int nanos) {
        if (millis < 0) {
            throw new IllegalArgumentException("wait: " + millis + " milliseconds; a time cannot be negative");
        }
        if (nanos < 0 || nanos > 999_999) {
            throw new IllegalArgumentException("wait: " + nanos + " nanoseconds are not between 0 and 999999");
        }
        long all = PicoRuntime.nanos(millis, nanos);
        return all == 0 ? Long.MAX_VALUE : all;
    }

    @Primitive
    static void wait(Object o, long nanos, MethodInfo primitive) throws InterruptedException {
        PicoThread me = PicoThread.currentThread();
        int entries = MonitorTable.of(o).entries(o, me);
        if (PicoThread.interrupted()) {
            throw new InterruptedException();
        }
        MonitorTable.Waiter w;
        if (o instanceof PicoThread) {
            boolean ended = Parking.hasEnded((PicoThread) o);
            if (Parking.watchEnd((PicoThread) o)) {
                return;
            }
            w = new OfThread(me, (PicoThread) o, entries, ended);
        } else {
            w = new MonitorTable.Waiter(me, o, entries, true);
        }
        Parking.block(w, nanos, true, primitive);
    }

    /** Waits on a thread object, whose end is a notifyAll. Looks for the end again after it has joined the set, as the thread that ends may have looked before. */
    private static final class OfThread extends MonitorTable.Waiter {
        private final PicoThread watched;
        /** Whether it had ended before the wait: it is an object like any other then. */
        private final boolean ended;

        OfThread(PicoThread me, PicoThread watched, int entries, boolean ended) {
            super(me, watched, entries, true);
            this.watched = watched;
            this.ended = ended;
        }

        @Override
        protected void suspended() {
            super.suspended();
            if (!ended && Parking.hasEnded(watched)) {
                MonitorTable.wakeAll(watched);
            }
        }
    }

    /** The thread has ended, and was waited on: as {@link #notifyAll}, but the monitor is not owned. Never blocks. */
    public static void threadEnded(PicoThread t) {
        MonitorTable.wakeAll(t);
    }

    /** As {@link Object#notify()}: of the threads that wait, the one that has waited longest. Never blocks. */
    public static void notify(Object o) {
        MonitorTable.of(o).wake(o, PicoThread.currentThread(), 1);
    }

    /** As {@link Object#notifyAll()}. Never blocks. */
    public static void notifyAll(Object o) {
        MonitorTable.of(o).wake(o, PicoThread.currentThread(), Integer.MAX_VALUE);
    }

    /** As {@link Thread#holdsLock}. */
    public static boolean holdsLock(Object o) {
        return MonitorTable.of(o).owner(o) == PicoThread.currentThread();
    }

    /** The thread that owns the monitor of {@code o}; null if none does. */
    public static PicoThread ownerOf(Object o) {
        return MonitorTable.of(o).owner(o);
    }

    /** Whether the thread owns any monitor. Looks through all. */
    public static boolean ownsAny(PicoThread t) {
        return MonitorTable.ownsAny(t);
    }

    /** How many objects have a monitor that is owned or waited for. */
    public static int count() {
        return MonitorTable.count();
    }
}
