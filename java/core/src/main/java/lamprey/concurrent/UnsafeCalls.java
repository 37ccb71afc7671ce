package lamprey.concurrent;

import java.util.concurrent.locks.LockSupport;
import lamprey.Parking;
import lamprey.PicoThread;
import lamprey.instrument.Monitors;

/**
 * What {@code sun.misc.Unsafe} does to threads, for rewritten programs: the JVM would take a light thread for one of its own, and crash. The permit is that of
 * {@link LockSupport}, the monitors are those of {@code synchronized}. The first argument is the {@code Unsafe}, by a type that each release of the JDK has.
 */
public final class UnsafeCalls {
    private UnsafeCalls() {}

    /** {@code u.park(absolute, time)}: without limit if {@code time} is 0, nanoseconds, or, if {@code absolute}, until then in milliseconds. Blocks. */
    public static void park(Object u, boolean absolute, long time) {
        checked(u);
        if (!absolute && time == 0) {
            Parking.park();
        } else if (time > 0) {
            if (absolute) {
                Parking.parkUntil(time);
            } else {
                Parking.parkNanos(time);
            }
        }
    }

    /** {@code u.unpark(thread)}. Never blocks; null is ignored. */
    public static void unpark(Object u, Object thread) {
        checked(u);
        if (thread instanceof PicoThread) {
            Parking.unpark((PicoThread) thread);
        } else if (thread instanceof Thread) {
            LockSupport.unpark((Thread) thread);
        } else if (thread != null) {
            throw new IllegalArgumentException("unpark: " + thread.getClass().getName() + " is no thread");
        }
    }

    /** {@code u.monitorEnter(o)}. Blocks. */
    public static void monitorEnter(Object u, Object o) {
        checked(u);
        Monitors.enter(checked(o));
    }

    /** {@code u.tryMonitorEnter(o)}. Never blocks. */
    public static boolean tryMonitorEnter(Object u, Object o) {
        checked(u);
        return Monitors.tryEnter(checked(o));
    }

    /** {@code u.monitorExit(o)}. Never blocks. */
    public static void monitorExit(Object u, Object o) {
        checked(u);
        Monitors.exit(checked(o));
    }

    private static Object checked(Object o) {
        if (o == null) {
            throw new NullPointerException();
        }
        return o;
    }
}
