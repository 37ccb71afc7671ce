package lamprey.concurrent;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import lamprey.PicoThread;
import lamprey.PicoThreadFactory;
import lamprey.instrument.Suspendable;

/**
 * A {@link java.util.concurrent.ThreadPoolExecutor} whose threads are light ones. The methods do what those of the JDK do. The queue should be one of this package (as in
 * rewritten programs): one that blocks otherwise blocks a carrier.
 */
public class ThreadPoolExecutor extends java.util.concurrent.ThreadPoolExecutor {
    private final Pool pool;

    /** With the usual threads; tasks that cannot be taken are refused by an exception. */
    public ThreadPoolExecutor(int core, int max, long keepAlive, TimeUnit unit, BlockingQueue<Runnable> queue) {
        this(core, max, keepAlive, unit, queue, Executors.defaultThreadFactory());
    }

    /** Tasks that cannot be taken are refused by an exception. */
    public ThreadPoolExecutor(int core, int max, long keepAlive, TimeUnit unit, BlockingQueue<Runnable> queue, PicoThreadFactory factory) {
        this(core, max, keepAlive, unit, queue, factory, new AbortPolicy());
    }

    /** With the usual threads. */
    public ThreadPoolExecutor(int core, int max, long keepAlive, TimeUnit unit, BlockingQueue<Runnable> queue, RejectedExecutionHandler handler) {
        this(core, max, keepAlive, unit, queue, Executors.defaultThreadFactory(), handler);
    }

    /** With all settings. */
    public ThreadPoolExecutor(int core, int max, long keepAlive, TimeUnit unit, BlockingQueue<Runnable> queue, PicoThreadFactory factory,
            RejectedExecutionHandler handler) {
        super(core, max, keepAlive, unit, queue, handler);
        if (factory == null) {
            throw new NullPointerException("the thread factory is null");
        }
        pool = new Pool(core, max, unit.toNanos(keepAlive), queue, factory, new Hooks());
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
            RejectedExecutionHandler handler = getRejectedExecutionHandler();
            if (handler.getClass() == CallerRunsPolicy.class) {
                // Here, not by the JDK's code: the task may block.
                if (!isShutdown()) {
                    task.run();
                }
            } else {
                handler.rejectedExecution(task, ThreadPoolExecutor.this);
            }
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

    // ---- Tasks.

    @Override
    public void execute(Runnable task) {
        pool.execute(task);
    }

    @Override
    protected <T> RunnableFuture<T> newTaskFor(Runnable task, T value) {
        return new FutureTask<>(task, value);
    }

    @Override
    protected <T> RunnableFuture<T> newTaskFor(Callable<T> task) {
        return new FutureTask<>(task);
    }

    @Override
    public Future<?> submit(Runnable task) {
        return submit(task, null);
    }

    @Override
    public <T> Future<T> submit(Runnable task, T result) {
        if (task == null) {
            throw new NullPointerException("a task is null");
        }
        RunnableFuture<T> f = newTaskFor(task, result);
        execute(f);
        return f;
    }

    @Override
    public <T> Future<T> submit(Callable<T> task) {
        if (task == null) {
            throw new NullPointerException("a task is null");
        }
        RunnableFuture<T> f = newTaskFor(task);
        execute(f);
        return f;
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

    // ---- The end.

    @Override
    public void shutdown() {
        pool.shutdown();
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

    /** As {@code ExecutorService.close()} of newer JDKs: no new tasks; waits until all have ended; an interrupt stops them. Blocks. */
    public void close() {
        Invoke.close(this);
    }

    // ---- Settings and questions.

    /** What makes its threads; {@code getThreadFactory()} in rewritten programs. */
    public PicoThreadFactory getPicoThreadFactory() {
        return pool.factory;
    }

    /** Changes what makes its threads; {@code setThreadFactory} in rewritten programs. */
    public void setThreadFactory(PicoThreadFactory factory) {
        if (factory == null) {
            throw new NullPointerException("the thread factory is null");
        }
        pool.factory = factory;
    }

    @Override
    public void setCorePoolSize(int core) {
        // Not the JDK's, which would start its own threads.
        if (core < 0 || core > pool.max) {
            throw new IllegalArgumentException("the core size is " + core + "; it must be between 0 and the maximum, " + pool.max);
        }
        int missing = core - pool.core;
        pool.resize(core, pool.max);
        for (int i = Math.min(missing, getQueue().size()); i > 0 && pool.add(null, core); i--) {
            // One for each task that waits.
        }
    }

    @Override
    public int getCorePoolSize() {
        return pool.core;
    }

    @Override
    public int getMaximumPoolSize() {
        return pool.max;
    }

    @Override
    public void setMaximumPoolSize(int max) {
        if (max <= 0 || max < pool.core) {
            throw new IllegalArgumentException("the maximum size is " + max + "; it must be positive and at least the core size, " + pool.core);
        }
        pool.resize(pool.core, max);
    }

    @Override
    public void setKeepAliveTime(long time, TimeUnit unit) {
        super.setKeepAliveTime(time, unit);
        pool.keepAlive = unit.toNanos(time);
        pool.resize(pool.core, pool.max);
    }

    @Override
    public void allowCoreThreadTimeOut(boolean value) {
        super.allowCoreThreadTimeOut(value);
        pool.coreTimesOut = value;
        pool.resize(pool.core, pool.max);
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
    public boolean remove(Runnable task) {
        boolean removed = getQueue().remove(task);
        pool.tryTerminate();
        return removed;
    }

    @Override
    public void purge() {
        getQueue().removeIf(r -> r instanceof Future && ((Future<?>) r).isCancelled());
        pool.tryTerminate();
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
        return pool.completed + pool.active() + getQueue().size();
    }

    @Override
    public long getCompletedTaskCount() {
        return pool.completed;
    }

    @Override
    public String toString() {
        String[] states = {"Running", "Shutting down", "Shutting down", "Terminated"};
        return getClass().getName() + "@" + Integer.toHexString(hashCode()) + "[" + states[pool.state] + ", pool size = " + getPoolSize()
            + ", active threads = " + getActiveCount() + ", queued tasks = " + getQueue().size() + ", completed tasks = " + getCompletedTaskCount() + "]";
    }
}
