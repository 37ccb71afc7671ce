package lamprey.instrument;

import java.time.Instant;
import java.util.Date;
import java.util.concurrent.TimeUnit;
import lamprey.Parking;
import lamprey.PicoRuntime;
import lamprey.PicoThread;

/** The time, for rewritten code: in a simulation, of the virtual clock. */
public final class Clock {
    private static final MethodInfo SLEEP = info("sleep", "(Ljava/util/concurrent/TimeUnit;J)V");
    private static final MethodInfo JOIN = info("timedJoin", "(Ljava/util/concurrent/TimeUnit;Llamprey/PicoThread;J)V");
    private static final MethodInfo WAIT = info("timedWait", "(Ljava/util/concurrent/TimeUnit;Ljava/lang/Object;J)V");

    private Clock() {}

    private static MethodInfo info(String name, String desc) {
        return MethodInfo.primitive(Clock.class, name, desc);
    }

    /** As {@link System#currentTimeMillis()}. */
    public static long currentTimeMillis() {
        return PicoRuntime.currentTimeMillis();
    }

    /** As {@link System#nanoTime()}. */
    public static long nanoTime() {
        return PicoRuntime.nanoTime();
    }

    /** As {@code new Date()}. */
    public static Date date() {
        return new Date(currentTimeMillis());
    }

    /** As {@link Instant#now()}, in a simulation. */
    public static Instant instant() {
        return PicoRuntime.isTimeVirtual() ? Instant.ofEpochMilli(currentTimeMillis()) : Instant.now();
    }

    /** As {@link TimeUnit#sleep}. Blocks; an interrupt ends it. */
    @Primitive
    public static void sleep(TimeUnit unit, long time) throws InterruptedException {
        if (time > 0) {
            Parking.sleep(unit.toNanos(time), SLEEP);
        }
    }

    /** As {@link TimeUnit#timedJoin}. Blocks; an interrupt ends it. */
    @Primitive
    public static void timedJoin(TimeUnit unit, PicoThread thread, long time) throws InterruptedException {
        if (time > 0) {
            Parking.join(thread, unit.toNanos(time), JOIN);
        }
    }

    /** As {@link TimeUnit#timedWait}. Blocks; an interrupt ends it. */
    @Primitive
    public static void timedWait(TimeUnit unit, Object o, long time) throws InterruptedException {
        if (time > 0) {
            Monitors.wait(o, unit.toNanos(time), WAIT);
        }
    }
}
