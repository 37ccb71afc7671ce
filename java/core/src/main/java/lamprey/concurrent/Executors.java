package lamprey.concurrent;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lamprey.PicoThread;
import lamprey.PicoThreadFactory;

/** The factories of {@link java.util.concurrent.Executors}, for rewritten programs: pools of light threads. None of the methods blocks. */
public final class Executors {
    private static final AtomicInteger POOLS = new AtomicInteger();

    private Executors() {}

    /** A task with the value it ends with. Its class is transformed: the task may block. */
    static final class RunnableCall<V> implements Callable<V> {
        final Runnable task;
        private final V result;

        RunnableCall(Runnable task, V result) {
            if (task == null) {
                throw new NullPointerException("a task is null");
            }
            this.task = task;
            this.result = result;
        }

        @Override
        public V call() throws Exception {
            task.run();
            return result;
        }

        @Override
        public String toString() {
            return task.toString();
        }
    }

    /** {@code Executors.callable}. */
    public static <T> Callable<T> callable(Runnable task, T result) {
        return new RunnableCall<>(task, result);
    }

    /** {@code Executors.callable}. */
    public static Callable<Object> callable(Runnable task) {
        return new RunnableCall<>(task, null);
    }

    /** Threads with the names that the JDK's pools give. */
    public static PicoThreadFactory defaultThreadFactory() {
        String prefix = "pool-" + POOLS.incrementAndGet() + "-thread-";
        AtomicInteger threads = new AtomicInteger();
        return task -> {
            PicoThread t = new PicoThread(task, prefix + threads.incrementAndGet());
            t.setDaemon(false);
            return t;
        };
    }

    /** {@code Executors.newFixedThreadPool}. */
    public static ExecutorService newFixedThreadPool(int n) {
        return newFixedThreadPool(n, defaultThreadFactory());
    }

    /** {@code Executors.newFixedThreadPool}. */
    public static ExecutorService newFixedThreadPool(int n, PicoThreadFactory factory) {
        return new ThreadPoolExecutor(n, n, 0, TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(), factory);
    }

    /** {@code Executors.newWorkStealingPool}: light threads, which carriers steal from each other in any case. They are daemons, as in the JDK's. */
    public static ExecutorService newWorkStealingPool(int parallelism) {
        return newFixedThreadPool(parallelism, task -> {
            PicoThread t = new PicoThread(task);
            t.setDaemon(true);
            return t;
        });
    }

    /** {@code Executors.newWorkStealingPool}. */
    public static ExecutorService newWorkStealingPool() {
        return newWorkStealingPool(Runtime.getRuntime().availableProcessors());
    }

    /** {@code Executors.newSingleThreadExecutor}. */
    public static ExecutorService newSingleThreadExecutor() {
        return newFixedThreadPool(1);
    }

    /** {@code Executors.newSingleThreadExecutor}. */
    public static ExecutorService newSingleThreadExecutor(PicoThreadFactory factory) {
        return newFixedThreadPool(1, factory);
    }

    /** {@code Executors.newCachedThreadPool}. */
    public static ExecutorService newCachedThreadPool() {
        return newCachedThreadPool(defaultThreadFactory());
    }

    /** {@code Executors.newCachedThreadPool}. */
    public static ExecutorService newCachedThreadPool(PicoThreadFactory factory) {
        return new ThreadPoolExecutor(0, Integer.MAX_VALUE, 60, TimeUnit.SECONDS, new SynchronousQueue<>(), factory);
    }

    /** {@code Executors.newThreadPerTaskExecutor}. */
    public static ExecutorService newThreadPerTaskExecutor(PicoThreadFactory factory) {
        return new ThreadPoolExecutor(0, Integer.MAX_VALUE, 0, TimeUnit.SECONDS, new SynchronousQueue<>(), factory);
    }

    /** {@code Executors.newVirtualThreadPerTaskExecutor}. */
    public static ExecutorService newVirtualThreadPerTaskExecutor() {
        return newThreadPerTaskExecutor(task -> {
            PicoThread t = new PicoThread(task);
            t.setDaemon(true);
            return t;
        });
    }

    /** {@code Executors.newScheduledThreadPool}. */
    public static ScheduledExecutorService newScheduledThreadPool(int core) {
        return new ScheduledThreadPoolExecutor(core);
    }

    /** {@code Executors.newScheduledThreadPool}. */
    public static ScheduledExecutorService newScheduledThreadPool(int core, PicoThreadFactory factory) {
        return new ScheduledThreadPoolExecutor(core, factory);
    }

    /** {@code Executors.newSingleThreadScheduledExecutor}. */
    public static ScheduledExecutorService newSingleThreadScheduledExecutor() {
        return new ScheduledThreadPoolExecutor(1);
    }

    /** {@code Executors.newSingleThreadScheduledExecutor}. */
    public static ScheduledExecutorService newSingleThreadScheduledExecutor(PicoThreadFactory factory) {
        return new ScheduledThreadPoolExecutor(1, factory);
    }

    /** {@code Executors.unconfigurableExecutorService}. */
    public static ExecutorService unconfigurableExecutorService(ExecutorService e) {
        return new Unconfigurable(e);
    }

    /** {@code Executors.unconfigurableScheduledExecutorService}. */
    public static ScheduledExecutorService unconfigurableScheduledExecutorService(ScheduledExecutorService e) {
        return new Unconfigurable.Scheduled(e);
    }

    /** {@code pool.getThreadFactory()}. */
    public static PicoThreadFactory getThreadFactory(java.util.concurrent.ThreadPoolExecutor pool) {
        if (pool instanceof ThreadPoolExecutor) {
            return ((ThreadPoolExecutor) pool).getPicoThreadFactory();
        }
        if (pool instanceof ScheduledThreadPoolExecutor) {
            return ((ScheduledThreadPoolExecutor) pool).getPicoThreadFactory();
        }
        throw new UnsupportedOperationException("the threads of " + pool.getClass().getName() + " are not light ones");
    }

    /** {@code pool.setThreadFactory(factory)}. */
    public static void setThreadFactory(java.util.concurrent.ThreadPoolExecutor pool, PicoThreadFactory factory) {
        if (pool instanceof ThreadPoolExecutor) {
            ((ThreadPoolExecutor) pool).setThreadFactory(factory);
        } else if (pool instanceof ScheduledThreadPoolExecutor) {
            ((ScheduledThreadPoolExecutor) pool).setThreadFactory(factory);
        } else {
            throw new UnsupportedOperationException("the threads of " + pool.getClass().getName() + " are not light ones");
        }
    }
}
