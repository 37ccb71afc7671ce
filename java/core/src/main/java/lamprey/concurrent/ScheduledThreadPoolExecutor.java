package lamprey.concurrent;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.Delayed;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import lamprey.PicoRuntime;
import lamprey.PicoThread;
import lamprey.PicoThreadFactory;
import lamprey.instrument.Suspendable;

/**
 * A {@link java.util.concurrent.ScheduledThreadPoolExecutor} whose threads are light ones. The methods do what those of the JDK do.
 */
public class ScheduledThreadPoolExecutor extends java.util.concurrent.ScheduledThreadPoolExecutor {
    private static final AtomicLong NUMBERS = new AtomicLong();
    private final Pool pool;
    private final DelayQueue<RunnableScheduledFuture<?>> delayed = new DelayQueue<>();

    /** With this many threads. */
    public ScheduledThreadPoolExecutor(int core) {
        this(core, Executors.defaultThreadFactory());
    }

    /** With this many threads. */
    public ScheduledThreadPoolExecutor(int core, PicoThreadFactory factory) {
        this(core, factory, new AbortPolicy());
    }

    /** With this many threads. */
    public ScheduledThreadPoolExecutor(int core, RejectedExecutionHandler handler) {
        this(core, Executors.defaultThreadFactory(), handler);
    }

    /** With all settings. */
    public ScheduledThreadPoolExecutor(int core, PicoThreadFactory factory, RejectedExecutionHandler handler) {
        super(core, handler);
        if (factory == null) {
            throw new NullPointerException("the thread factory is null");
        }
        @SuppressWarnings({"unchecked", "rawtypes"})
        BlockingQueue<Runnable> queue = (BlockingQueue) delayed;
        pool = new Pool(core, Integer.MAX_VALUE, 0, queue, factory, new Hooks());
    }

    private final class Hooks implements Pool.Hooks {
        @Override
        public void before(PicoThread thread, Runnable task) {
            beforeExecute(thread, task);
        }

        @Override
        public void after(Runnable task, Throwable failure) {
            afterExecute(task, failure);
        }

        @Override
        public void ended() {
            terminated();
        }

        @Override
        public void rejected(Runnable task) {
            getRejectedExecutionHandler().rejectedExecution(task, ScheduledThreadPoolExecutor.this);
        }
    }

    /** Called by the thread before it runs a task; for subclasses. May block. */
    @Suspendable
    protected void beforeExecute(PicoThread thread, Runnable task) {}

    /** Called by the thread after it has run a task; for subclasses. May block. */
    @Override
    @Suspendable
    protected void afterExecute(Runnable task, Throwable failure) {}

    /** Called when no thread is left; for subclasses. May block. */
    @Override
    @Suspendable
    protected void terminated() {}

    /** One task: due at {@link #time}, and every {@link #period} nanoseconds (after its end if negative, once if 0). */
    private static final class Task<V> extends FutureTask<V> implements RunnableScheduledFuture<V> {
        private final ScheduledThreadPoolExecutor of;
        private final long number = NUMBERS.getAndIncrement();
        private final long period;
        private volatile long time;
        /** What {@code decorateTask} has made of it: what is in the queue, and is run. */
        private RunnableScheduledFuture<V> outer = this;

        Task(ScheduledThreadPoolExecutor of, Callable<V> task, long time, long period) {
            super(task);
            this.of = of;
            this.time = time;
            this.period = period;
        }

        @Override
        public boolean isPeriodic() {
            return period != 0;
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(time - PicoRuntime.nanoTime(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            if (other instanceof Task) {
                Task<?> t = (Task<?>) other;
                long difference = time - t.time;
                return difference != 0 ? Long.signum(difference) : Long.compare(number, t.number);
            }
            return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
        }

        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            boolean cancelled = super.cancel(mayInterruptIfRunning);
            if (cancelled && of.getRemoveOnCancelPolicy()) {
                of.remove(outer);
            }
            return cancelled;
        }

        @Override
        public void run() {
            if (!of.mayRun(isPeriodic())) {
                cancel(false);
            } else if (period == 0) {
                super.run();
            } else if (runAndReset()) {
                time = period > 0 ? time + period : PicoRuntime.moment(-period);
                of.again(outer);
            }
        }
    }

    private boolean mayRun(boolean periodic) {
        return pool.state == Pool.RUNNING || pool.state == Pool.SHUTDOWN
            && (periodic ? getContinueExistingPeriodicTasksAfterShutdownPolicy() : getExecuteExistingDelayedTasksAfterShutdownPolicy());
    }

    private void again(RunnableScheduledFuture<?> task) {
        if (mayRun(true)) {
            delayed.add(task);
            if (mayRun(true) || !delayed.remove(task)) {
                pool.ensureWorker();
                return;
            }
        }
        task.cancel(false);
    }

    private <V> ScheduledFuture<V> start(Callable<V> task, long delay, long period) {
        if (task == null) {
            throw new NullPointerException("a task is null");
        }
        Task<V> t = new Task<>(this, task, PicoRuntime.moment(Math.min(delay, FAR)), period);
        t.outer = task instanceof Executors.RunnableCall ? decorateTask(((Executors.RunnableCall<V>) task).task, t) : decorateTask(task, t);
        if (isShutdown()) {
            getRejectedExecutionHandler().rejectedExecution(t.outer, this);
            return t.outer;
        }
        delayed.add(t.outer);
        if (!mayRun(period != 0) && delayed.remove(t.outer)) {
            t.outer.cancel(false);
        } else {
            pool.ensureWorker();
        }
        return t.outer;
    }

    /** The longest delay, 146 years: moments of two tasks are compared by their difference. */
    private static final long FAR = Long.MAX_VALUE / 2;

    private static long positive(long n, String what) {
        if (n <= 0) {
            throw new IllegalArgumentException("the " + what + " is " + n + "; it must be positive");
        }
        return n;
    }

    @Override
    public <V> ScheduledFuture<V> schedule(Callable<V> task, long delay, TimeUnit unit) {
        return start(task, unit.toNanos(delay), 0);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        return start(new Executors.RunnableCall<>(task, null), unit.toNanos(delay), 0);
    }

    @Override
    public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long initialDelay, long period, TimeUnit unit) {
        return start(new Executors.RunnableCall<>(task, null), unit.toNanos(initialDelay), Math.min(unit.toNanos(positive(period, "period")), FAR));
    }

    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long initialDelay, long delay, TimeUnit unit) {
        return start(new Executors.RunnableCall<>(task, null), unit.toNanos(initialDelay), -Math.min(unit.toNanos(positive(delay, "delay")), FAR));
    }

    @Override
    public void execute(Runnable task) {
        start(new Executors.RunnableCall<>(task, null), 0, 0);
    }

    @Override
    public Future<?> submit(Runnable task) {
        return start(new Executors.RunnableCall<>(task, null), 0, 0);
    }

    @Override
    public <T> Future<T> submit(Runnable task, T result) {
        return start(new Executors.RunnableCall<>(task, result), 0, 0);
    }

    @Override
    public <T> Future<T> submit(Callable<T> task) {
        return start(task, 0, 0);
    }

    @Override
    public <T> List<Future<T>> invokeAll(Collection<? extends Callable<T>> tasks) throws InterruptedException {
        return Invoke.all(this, tasks, Long.MAX_VALUE);
    }

    @Override
    public <T> List<Future<T>> invokeAll(Collection<? extends Callable<T>> tasks, long time, TimeUnit unit) throws InterruptedException {
        return Invoke.all(this, tasks, unit.toNanos(time));
    }

    @Override
    public <T> T invokeAny(Collection<? extends Callable<T>> tasks) throws InterruptedException, ExecutionException {
        try {
            return Invoke.any(this, tasks, Long.MAX_VALUE);
        } catch (TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public <T> T invokeAny(Collection<? extends Callable<T>> tasks, long time, TimeUnit unit)
            throws InterruptedException, ExecutionException, TimeoutException {
        return Invoke.any(this, tasks, unit.toNanos(time));
    }

    @Override
    public void shutdown() {
        pool.shutdown();
        for (RunnableScheduledFuture<?> t : delayed.toArray(new RunnableScheduledFuture<?>[0])) {
            if (!mayRun(t.isPeriodic()) || t.isCancelled()) {
                delayed.remove(t);
                t.cancel(false);
            }
        }
        pool.tryTerminate();
    }

    @Override
    public List<Runnable> shutdownNow() {
        return pool.stop();
    }

    @Override
    public boolean isShutdown() {
        return pool.state != Pool.RUNNING;
    }

    @Override
    public boolean isTerminating() {
        return isShutdown() && !isTerminated();
    }

    @Override
    public boolean isTerminated() {
        return pool.isTerminated();
    }

    @Override
    public boolean awaitTermination(long time, TimeUnit unit) throws InterruptedException {
        return pool.awaitTermination(unit.toNanos(time));
    }

    /** As {@code ExecutorService.close()} of newer JDKs. Blocks. */
    public void close() {
        Invoke.close(this);
    }

    @Override
    public BlockingQueue<Runnable> getQueue() {
        return pool == null ? super.getQueue() : pool.queue;
    }

    @Override
    public boolean remove(Runnable task) {
        boolean removed = delayed.remove(task);
        pool.tryTerminate();
        return removed;
    }

    @Override
    public void purge() {
        for (RunnableScheduledFuture<?> t : delayed.toArray(new RunnableScheduledFuture<?>[0])) {
            if (t.isCancelled()) {
                delayed.remove(t);
            }
        }
        pool.tryTerminate();
    }

    /** What makes its threads. */
    public PicoThreadFactory getPicoThreadFactory() {
        return pool.factory;
    }

    /** Changes what makes its threads. */
    public void setThreadFactory(PicoThreadFactory factory) {
        pool.factory = java.util.Objects.requireNonNull(factory, "the thread factory is null");
    }

    @Override
    public int getCorePoolSize() {
        return pool == null ? super.getCorePoolSize() : pool.core;
    }

    @Override
    public void setCorePoolSize(int core) {
        // Not the JDK's, which would start its own threads.
        if (core < 0) {
            throw new IllegalArgumentException("the core size is " + core + "; it must not be negative");
        }
        pool.resize(core, pool.max);
    }

    @Override
    public boolean prestartCoreThread() {
        return pool.add(null, pool.core);
    }

    @Override
    public int prestartAllCoreThreads() {
        int n = 0;
        while (pool.add(null, pool.core)) {
            n++;
        }
        return n;
    }

    @Override
    public int getPoolSize() {
        return pool.size();
    }

    @Override
    public int getActiveCount() {
        return pool.active();
    }

    @Override
    public int getLargestPoolSize() {
        return pool.largest;
    }

    @Override
    public long getTaskCount() {
        return pool.completed + pool.active() + delayed.size();
    }

    @Override
    public long getCompletedTaskCount() {
        return pool.completed;
    }

    @Override
    public String toString() {
        return getClass().getName() + "@" + Integer.toHexString(hashCode()) + "[pool size = " + getPoolSize() + ", queued tasks = " + delayed.size() + "]";
    }
}
