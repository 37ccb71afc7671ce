package lamprey;

import java.util.concurrent.Callable;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import lamprey.instrument.MethodInfo;
import lamprey.instrument.Primitive;
import lamprey.instrument.RuntimeThread;

/** Calls that block a kernel thread, as they are not written for light threads: a pool of kernel threads makes them, and the light thread waits. */
public final class Blocking {
    private static final MethodInfo CALL = MethodInfo.primitive(Blocking.class, "call", "(Ljava/util/concurrent/Callable;)Ljava/lang/Object;");

    /** As many kernel threads as there are calls at a time; each is kept for a minute. */
    private static final ThreadPoolExecutor POOL = new ThreadPoolExecutor(0, Integer.MAX_VALUE, 1, TimeUnit.MINUTES, new SynchronousQueue<>(), r -> new RuntimeThread(r, "lamprey-blocking"));
    /** Calls that have been asked for, and those that have ended: equal if none is under way. Read in the other order. */
    private static final AtomicLong BEGUN = new AtomicLong();
    private static final AtomicLong ENDED = new AtomicLong();

    private Blocking() {}

    static void execute(Runnable task) {
        BEGUN.incrementAndGet();
        boolean accepted = false;
        try {
            POOL.execute(() -> {
                try {
                    task.run();
                } finally {
                    ENDED.incrementAndGet();
                }
            });
            accepted = true;
        } finally {
            if (!accepted) {
                ENDED.incrementAndGet();
            }
        }
    }

    /** How many kernel threads there are. */
    static int threads() {
        return POOL.getPoolSize();
    }

    /** How many of them wait for a call. None is ever queued: each call has a thread. */
    static int idle() {
        return (int) Math.max(POOL.getPoolSize() - (BEGUN.get() - ENDED.get()), 0);
    }

    /** How many calls there have been; -1 while one is under way. */
    static long callsAtRest() {
        long ended = ENDED.get();
        return BEGUN.get() == ended ? ended : -1;
    }

    /** The wait for such a call. An interrupt is passed on to the kernel thread; the wait ends when the call does. */
    private static final class Call<T> extends Blocker implements Runnable {
        private final Callable<T> call;
        private final PicoRuntime runtime;
        /** The kernel thread, while the call is made. */
        private Thread caller;
        private boolean interrupted;

        Call(PicoThread thread, Callable<T> call) {
            super(thread);
            this.call = call;
            this.runtime = thread.runtime;
        }

        @Override
        public void run() {
            synchronized (this) {
                caller = Thread.currentThread();
                if (interrupted) {
                    caller.interrupt();
                }
            }
            T result = null;
            Throwable error = null;
            try {
                result = call.call();
            } catch (Throwable e) {
                error = e;
            }
            synchronized (this) {
                caller = null;
                Thread.interrupted();
            }
            if (error != null) {
                fail(error);
            } else {
                deliver(result);
            }
            runtime.external(-1);
        }

        @Override
        protected void suspended() {
            runtime.external(1);
            execute(this);
        }

        @Override
        protected synchronized boolean withdraw(Cause cause) {
            if (cause == Cause.PINNED) {
                return true;
            }
            interrupted = true;
            if (caller != null) {
                caller.interrupt();
            }
            return false;
        }

        @Override
        protected WaitReason reason() {
            return WaitReason.BLOCKING_CALL;
        }
    }

    /**
     * Makes the call in a kernel thread of a pool, and returns what it returns, or throws what it throws. Blocks. A kernel thread that calls makes it itself. An
     * interrupt interrupts the kernel thread that makes the call.
     */
    @Primitive
    @SuppressWarnings("unchecked")
    public static <T> T call(Callable<T> call) throws Exception {
        Carrier c = Carrier.running();
        return c == null ? call.call() : (T) c.await(new Call<>(c.running, call), Long.MAX_VALUE, true, CALL);
    }
}
