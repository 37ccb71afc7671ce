package lamprey;

import java.util.concurrent.TimeUnit;
import lamprey.instrument.MethodInfo;
import lamprey.instrument.Primitive;

/**
 * How threads block, and how they are woken: the base of everything that blocks. Works for light threads (which are suspended) and kernel threads
 * (which are parked), in any mixture.
 *
 * <p>{@link #park()} and {@link #unpark} are those of {@link java.util.concurrent.locks.LockSupport}. {@link #await(Blocker)} waits for one delivery,
 * which goes straight to the waiting thread; the protocol is in {@link Blocker}.
 */
public final class Parking {
    /** Stands for the wait for the permit. */
    static final Blocker PERMIT = new Blocker(null) {
        @Override
        protected WaitReason reason() {
            return WaitReason.PARK;
        }
    };

    private static final MethodInfo PARK = info("park", "()V");
    private static final MethodInfo PARK_NANOS = info("parkNanos", "(J)V");
    private static final MethodInfo PARK_FOR = info("park", "(Ljava/lang/Object;)V");
    private static final MethodInfo PARK_NANOS_FOR = info("parkNanos", "(Ljava/lang/Object;J)V");
    private static final MethodInfo PARK_UNTIL = info("parkUntil", "(J)V");
    private static final MethodInfo PARK_UNTIL_FOR = info("parkUntil", "(Ljava/lang/Object;J)V");
    private static final MethodInfo AWAIT = info("await", "(Llamprey/Blocker;)Ljava/lang/Object;");
    private static final MethodInfo AWAIT_NANOS = info("await", "(Llamprey/Blocker;J)Ljava/lang/Object;");
    private static final MethodInfo STEADFAST = info("awaitUninterruptibly", "(Llamprey/Blocker;)Ljava/lang/Object;");
    private static final MethodInfo STEADFAST_NANOS = info("awaitUninterruptibly", "(Llamprey/Blocker;J)Ljava/lang/Object;");

    private static final MethodInfo JOIN = info("join", "(Llamprey/PicoThread;J)V");

    private Parking() {}

    private static MethodInfo info(String name, String desc) {
        return MethodInfo.primitive(Parking.class, name, desc);
    }

    /**
     * Waits until the calling thread's permit is given, takes it, and returns; or returns as it is interrupted (which stays set). May return without a
     * reason, hence is called in a loop that checks the condition.
     */
    @Primitive
    public static void park() {
        permit(Long.MAX_VALUE, PARK);
    }

    /** As {@link #park()}, for {@code nanos} at most; returns at once if that is not positive. */
    @Primitive
    public static void parkNanos(long nanos) {
        permit(nanos, PARK_NANOS);
    }

    /** As {@link #park()}; {@code blocker} is not used. */
    @Primitive
    public static void park(Object blocker) {
        permit(Long.MAX_VALUE, PARK_FOR);
    }

    /** As {@link #parkNanos(long)}; {@code blocker} is not used. */
    @Primitive
    public static void parkNanos(Object blocker, long nanos) {
        permit(nanos, PARK_NANOS_FOR);
    }

    /** As {@link #park()}, until a moment at most, in milliseconds as {@link System#currentTimeMillis()} counts. */
    @Primitive
    public static void parkUntil(long millis) {
        permit(PicoRuntime.nanosUntil(millis), PARK_UNTIL);
    }

    /** As {@link #parkUntil(long)}; {@code blocker} is not used. */
    @Primitive
    public static void parkUntil(Object blocker, long millis) {
        permit(PicoRuntime.nanosUntil(millis), PARK_UNTIL_FOR);
    }

    @Primitive
    private static void permit(long nanos, MethodInfo primitive) {
        if (nanos <= 0) {
            return;
        }
        Carrier c = Carrier.running();
        if (c == null) {
            KernelParking.park(nanos);
            return;
        }
        PicoThread t = c.running;
        if (!t.passes()) {
            if (nanos != Long.MAX_VALUE) {
                t.timer = new Timer(t, null, c.runtime.deadline(nanos));
            }
            t.blocker = PERMIT;
            c.suspend(primitive);
        }
    }

    /** Gives the permit to {@code thread}, which returns from {@link #park()}, now or the next time. Never blocks; null is ignored. */
    public static void unpark(PicoThread thread) {
        if (thread != null) {
            thread.unpark();
        }
    }

    /**
     * Waits until {@code b}, made by the calling thread, is completed.
     *
     * @return what was delivered
     * @throws InterruptedException if the thread is interrupted, before or meanwhile (and {@code b} allows it); the interrupt is then cleared
     */
    @Primitive
    public static Object await(Blocker b) throws InterruptedException {
        Carrier c = Carrier.running();
        return c == null ? KernelParking.await(b, Long.MAX_VALUE, true) : c.await(b, Long.MAX_VALUE, true, AWAIT);
    }

    /**
     * Waits until {@code b} is completed, for {@code nanos} at most; {@link Long#MAX_VALUE} is no limit.
     *
     * @return what was delivered; {@link Blocker.Cause#TIMEOUT} if the time is over
     * @throws InterruptedException if the thread is interrupted, before or meanwhile (and {@code b} allows it); the interrupt is then cleared
     */
    @Primitive
    public static Object await(Blocker b, long nanos) throws InterruptedException {
        Carrier c = Carrier.running();
        return c == null ? KernelParking.await(b, nanos, true) : c.await(b, nanos, true, AWAIT_NANOS);
    }

    /** As {@link #await(Blocker)}; an interrupt stays set, and the wait goes on. */
    @Primitive
    public static Object awaitUninterruptibly(Blocker b) {
        Carrier c = Carrier.running();
        return c == null ? KernelParking.await(b, Long.MAX_VALUE, false) : c.await(b, Long.MAX_VALUE, false, STEADFAST);
    }

    /** As {@link #await(Blocker, long)}; an interrupt stays set, and the wait goes on. */
    @Primitive
    public static Object awaitUninterruptibly(Blocker b, long nanos) {
        Carrier c = Carrier.running();
        return c == null ? KernelParking.await(b, nanos, false) : c.await(b, nanos, false, STEADFAST_NANOS);
    }

    /**
     * For authors of {@link Primitive} methods, which return what this returns: waits for {@code b}, in the name of {@code primitive}, so that the wait
     * has no frame of its own.
     *
     * @param nanos at most; {@link Long#MAX_VALUE} is no limit
     * @return see {@link #await(Blocker, long)}
     */
    @Primitive
    public static Object block(Blocker b, long nanos, boolean interruptible, MethodInfo primitive) {
        Carrier c = Carrier.running();
        return c == null ? KernelParking.await(b, nanos, interruptible) : c.await(b, nanos, interruptible, primitive);
    }

    /** Waits for the end of {@code thread}. The frame-less form of {@link PicoThread#join(java.time.Duration)}'s wait. */
    @Primitive
    static void join(PicoThread thread, long nanos) throws InterruptedException {
        join(thread, nanos, JOIN);
    }

    /**
     * For authors of {@link Primitive} methods: sleeps.
     *
     * @throws InterruptedException if the thread is interrupted, before or meanwhile; the interrupt is then cleared
     */
    @Primitive
    public static void sleep(long nanos, MethodInfo primitive) throws InterruptedException {
        Carrier c = Carrier.running();
        if (c != null) {
            c.sleep(nanos, primitive);
        } else {
            KernelParking.await(new Timer(PicoThread.currentThread(), 0), nanos, true);
        }
    }

    /**
     * For authors of {@link Primitive} methods: waits for the end of {@code thread}.
     *
     * @param nanos at most; {@link Long#MAX_VALUE} is no limit
     * @throws InterruptedException if the thread has not ended and the caller is interrupted, before or meanwhile; the interrupt is then cleared
     */
    @Primitive
    public static void join(PicoThread thread, long nanos, MethodInfo primitive) throws InterruptedException {
        Carrier c = Carrier.running();
        if (thread.runtime == null && thread.kernel() != null) {
            KernelThreads.join(thread.kernel(), nanos, c, primitive);
            return;
        }
        LightThread.Joiner j = new LightThread.Joiner(c != null ? c.running : PicoThread.currentThread(), thread);
        if ((thread.state & LightThread.STARTED) == 0 || !thread.add(j)) {
            return; // an interrupt of the caller stays set, as there is nothing to wait for
        }
        if (c != null) {
            c.await(j, nanos, true, primitive);
        } else {
            if (thread.runtime.stopped) {
                thread.lost(null);
            }
            KernelParking.await(j, nanos, true);
        }
    }

    /** For monitors: the calling thread, which owns the monitor of {@code t}, is about to wait on it. Returns whether it must not. See {@link LightThread#watchEnd}. */
    public static boolean watchEnd(PicoThread t) {
        return t.watchEnd();
    }

    /** Whether the thread, a light one, has ended; a subclass cannot override it. */
    public static boolean hasEnded(PicoThread t) {
        return t.hasEnded();
    }

    /** Throws any exception, also a checked one that the compiler does not know of here. */
    @SuppressWarnings("unchecked")
    static <E extends Throwable> RuntimeException sneak(Throwable e) throws E {
        throw (E) e;
    }
}
