package lamprey.concurrent;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionService;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** A {@link java.util.concurrent.ExecutorCompletionService} that suspends light threads and parks kernel threads. The methods do what those of the JDK do. */
public class ExecutorCompletionService<V> extends java.util.concurrent.ExecutorCompletionService<V> implements CompletionService<V> {
    private final Executor executor;
    private final BlockingQueue<Future<V>> ended;

    /** With an own queue. */
    public ExecutorCompletionService(Executor executor) {
        this(executor, new LinkedBlockingQueue<>());
    }

    /** With this queue. */
    public ExecutorCompletionService(Executor executor, BlockingQueue<Future<V>> queue) {
        super(executor, queue);
        this.executor = executor;
        this.ended = queue;
    }

    /** A task that puts itself into a queue when it has ended. */
    static final class Queued<V> extends FutureTask<V> {
        private final BlockingQueue<Future<V>> ended;

        Queued(Callable<V> task, BlockingQueue<Future<V>> ended) {
            super(task);
            this.ended = ended;
        }

        @Override
        protected void done() {
            ended.add(this);
        }
    }

    @Override
    public Future<V> submit(Callable<V> task) {
        Queued<V> f = new Queued<>(task, ended);
        executor.execute(f);
        return f;
    }

    @Override
    public Future<V> submit(Runnable task, V result) {
        return submit(new Executors.RunnableCall<>(task, result));
    }

    @Override
    public Future<V> take() throws InterruptedException {
        return ended.take();
    }

    @Override
    public Future<V> poll() {
        return ended.poll();
    }

    @Override
    public Future<V> poll(long time, TimeUnit unit) throws InterruptedException {
        return ended.poll(time, unit);
    }
}
