package lamprey.concurrent;

import java.util.Collection;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import lamprey.Blocking;
import lamprey.PicoThread;
import lamprey.instrument.CarrierThread;

/**
 * Methods of the JDK that block a kernel thread and are not replaced, for rewritten programs: a light thread that calls one waits while a kernel thread of the pool of
 * {@link Blocking} makes the call, so its carrier is free. A kernel thread makes the call itself. Each thread that waits so costs a kernel thread.
 */
public final class Kernel {
    private Kernel() {}

    /** Whether the class is the JDK's, whose code parks kernel threads. */
    static boolean isOfJdk(Object o) {
        String name = o.getClass().getName();
        return name.startsWith("java.") || name.startsWith("sun.") || name.startsWith("jdk.") || name.startsWith("com.sun.");
    }

    static boolean isFree() {
        return !(Thread.currentThread() instanceof CarrierThread);
    }

    /** The call; an interrupt, which it may look at, stays set. */
    static <T> T call(Callable<T> c) {
        try {
            return Blocking.call(c);
        } catch (Exception e) {
            throw Kernel.<RuntimeException>thrown(e);
        }
    }

    /** The call, which an interrupt may end: that clears it. */
    static <T> T interruptible(Callable<T> c) throws InterruptedException {
        if (PicoThread.interrupted()) {
            throw new InterruptedException();
        }
        try {
            return Blocking.call(c);
        } catch (InterruptedException e) {
            PicoThread.interrupted();
            throw e;
        } catch (Exception e) {
            throw Kernel.<RuntimeException>thrown(e);
        }
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException thrown(Throwable e) throws E {
        throw (E) e;
    }

    // ---- Processes.

    /** {@code p.waitFor()}. Blocks. */
    public static int waitFor(Process p) throws InterruptedException {
        return isFree() ? p.waitFor() : Kernel.<Integer>interruptible(p::waitFor);
    }

    /** {@code p.waitFor(time, unit)}. Blocks. */
    public static boolean waitFor(Process p, long time, TimeUnit unit) throws InterruptedException {
        return isFree() ? p.waitFor(time, unit) : Kernel.<Boolean>interruptible(() -> p.waitFor(time, unit));
    }

    // ---- Fork and join.

    /** {@code t.join()}. Blocks. */
    public static <T> T join(ForkJoinTask<T> t) {
        return t.isDone() || isFree() ? t.join() : call(t::join);
    }

    /** {@code t.invoke()}: the computation runs on the kernel thread. Blocks. */
    public static <T> T invoke(ForkJoinTask<T> t) {
        return isFree() ? t.invoke() : call(t::invoke);
    }

    /** {@code t.get()}. Blocks. */
    public static <T> T get(ForkJoinTask<T> t) throws InterruptedException, ExecutionException {
        return t.isDone() || isFree() ? t.get() : Kernel.<T>interruptible(t::get);
    }

    /** {@code t.get(time, unit)}. Blocks. */
    public static <T> T get(ForkJoinTask<T> t, long time, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        return t.isDone() || isFree() ? t.get(time, unit) : Kernel.<T>interruptible(() -> t.get(time, unit));
    }

    /** {@code t.quietlyJoin()}. Blocks. */
    public static void quietlyJoin(ForkJoinTask<?> t) {
        if (t.isDone() || isFree()) {
            t.quietlyJoin();
        } else {
            call(() -> {
                t.quietlyJoin();
                return null;
            });
        }
    }

    /** {@code t.quietlyInvoke()}. Blocks. */
    public static void quietlyInvoke(ForkJoinTask<?> t) {
        if (isFree()) {
            t.quietlyInvoke();
        } else {
            call(() -> {
                t.quietlyInvoke();
                return null;
            });
        }
    }

    /** {@code ForkJoinTask.invokeAll}. Blocks. */
    public static void invokeAll(ForkJoinTask<?> a, ForkJoinTask<?> b) {
        if (isFree()) {
            ForkJoinTask.invokeAll(a, b);
        } else {
            call(() -> {
                ForkJoinTask.invokeAll(a, b);
                return null;
            });
        }
    }

    /** {@code ForkJoinTask.invokeAll}. Blocks. */
    public static void invokeAll(ForkJoinTask<?>[] tasks) {
        if (isFree()) {
            ForkJoinTask.invokeAll(tasks);
        } else {
            call(() -> {
                ForkJoinTask.invokeAll(tasks);
                return null;
            });
        }
    }

    /** {@code ForkJoinTask.invokeAll}. Blocks. */
    public static <T extends ForkJoinTask<?>> Collection<T> invokeAll(Collection<T> tasks) {
        return isFree() ? ForkJoinTask.invokeAll(tasks) : call(() -> ForkJoinTask.invokeAll(tasks));
    }

    /** {@code pool.invoke(t)}. Blocks. */
    public static <T> T invoke(ForkJoinPool pool, ForkJoinTask<T> t) {
        return isFree() ? pool.invoke(t) : call(() -> pool.invoke(t));
    }

    /** {@code pool.awaitTermination(time, unit)}. Blocks. */
    public static boolean awaitTermination(ForkJoinPool pool, long time, TimeUnit unit) throws InterruptedException {
        return isFree() ? pool.awaitTermination(time, unit) : Kernel.<Boolean>interruptible(() -> pool.awaitTermination(time, unit));
    }

    /** {@code pool.awaitQuiescence(time, unit)}. Blocks. */
    public static boolean awaitQuiescence(ForkJoinPool pool, long time, TimeUnit unit) {
        return isFree() ? pool.awaitQuiescence(time, unit) : Kernel.<Boolean>call(() -> pool.awaitQuiescence(time, unit));
    }
}
