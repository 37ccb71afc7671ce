package lamprey.concurrent;

import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Passes calls on to an executor that cannot be cast to its class. The JDK's own wrapper would stand between threads and what they wait for. */
class Unconfigurable implements ExecutorService {
    private final ExecutorService e;

    Unconfigurable(ExecutorService e) {
        this.e = Objects.requireNonNull(e);
    }

    @Override
    public void execute(Runnable task) {
        e.execute(task);
    }

    @Override
    public Future<?> submit(Runnable task) {
        return e.submit(task);
    }

    @Override
    public <T> Future<T> submit(Runnable task, T result) {
        return e.submit(task, result);
    }

    @Override
    public <T> Future<T> submit(Callable<T> task) {
        return e.submit(task);
    }

    @Override
    public <T> List<Future<T>> invokeAll(Collection<? extends Callable<T>> tasks) throws InterruptedException {
        return e.invokeAll(tasks);
    }

    @Override
    public <T> List<Future<T>> invokeAll(Collection<? extends Callable<T>> tasks, long time, TimeUnit unit) throws InterruptedException {
        return e.invokeAll(tasks, time, unit);
    }

    @Override
    public <T> T invokeAny(Collection<? extends Callable<T>> tasks) throws InterruptedException, ExecutionException {
        return e.invokeAny(tasks);
    }

    @Override
    public <T> T invokeAny(Collection<? extends Callable<T>> tasks, long time, TimeUnit unit)
            throws InterruptedException, ExecutionException, TimeoutException {
        return e.invokeAny(tasks, time, unit);
    }

    @Override
    public void shutdown() {
        e.shutdown();
    }

    @Override
    public List<Runnable> shutdownNow() {
        return e.shutdownNow();
    }

    @Override
    public boolean isShutdown() {
        return e.isShutdown();
    }

    @Override
    public boolean isTerminated() {
        return e.isTerminated();
    }

    @Override
    public boolean awaitTermination(long time, TimeUnit unit) throws InterruptedException {
        return e.awaitTermination(time, unit);
    }

    /** As {@code ExecutorService.close()} of newer JDKs. Blocks. */
    public void close() {
        Invoke.close(this);
    }

    /** One that schedules. */
    static final class Scheduled extends Unconfigurable implements ScheduledExecutorService {
        private final ScheduledExecutorService e;

        Scheduled(ScheduledExecutorService e) {
            super(e);
            this.e = e;
        }

        @Override
        public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            return e.schedule(task, delay, unit);
        }

        @Override
        public <V> ScheduledFuture<V> schedule(Callable<V> task, long delay, TimeUnit unit) {
            return e.schedule(task, delay, unit);
        }

        @Override
        public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long initialDelay, long period, TimeUnit unit) {
            return e.scheduleAtFixedRate(task, initialDelay, period, unit);
        }

        @Override
        public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long initialDelay, long delay, TimeUnit unit) {
            return e.scheduleWithFixedDelay(task, initialDelay, delay, unit);
        }
    }
}
