package lamprey.concurrent;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import lamprey.PicoRuntime;
import lamprey.PicoThread;

/** {@code invokeAll}, {@code invokeAny} and {@code close} of executors. They block. */
final class Invoke {
    private Invoke() {}

    /** As {@link ExecutorService#invokeAll(Collection, long, TimeUnit)}. */
    static <T> List<Future<T>> all(Executor e, Collection<? extends Callable<T>> tasks, long nanos) throws InterruptedException {
        long deadline = PicoRuntime.moment(nanos);
        List<Future<T>> futures = new ArrayList<>(tasks.size());
        boolean done = false;
        try {
            for (Callable<T> task : tasks) {
                FutureTask<T> f = new FutureTask<>(task);
                futures.add(f);
                e.execute(f);
            }
            for (Future<T> f : futures) {
                try {
                    f.get(deadline - PicoRuntime.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (ExecutionException | CancellationException ended) {
                    // The caller asks the future.
                } catch (TimeoutException late) {
                    return futures;
                }
            }
            done = true;
            return futures;
        } finally {
            if (!done) {
                cancel(futures);
            }
        }
    }

    /** As {@link ExecutorService#invokeAny(Collection, long, TimeUnit)}. */
    static <T> T any(Executor e, Collection<? extends Callable<T>> tasks, long nanos)
            throws InterruptedException, ExecutionException, TimeoutException {
        if (tasks.isEmpty()) {
            throw new IllegalArgumentException("invokeAny of no tasks");
        }
        long deadline = PicoRuntime.moment(nanos);
        LinkedBlockingQueue<Future<T>> ended = new LinkedBlockingQueue<>();
        List<Future<T>> futures = new ArrayList<>(tasks.size());
        try {
            for (Callable<T> task : tasks) {
                FutureTask<T> f = new ExecutorCompletionService.Queued<>(task, ended);
                futures.add(f);
                e.execute(f);
            }
            ExecutionException last = null;
            for (int i = 0; i < futures.size(); i++) {
                Future<T> f = ended.poll(Math.max(deadline - PicoRuntime.nanoTime(), 0), TimeUnit.NANOSECONDS);
                if (f == null) {
                    throw new TimeoutException();
                }
                try {
                    return f.get();
                } catch (ExecutionException failed) {
                    last = failed;
                }
            }
            throw last;
        } finally {
            cancel(futures);
        }
    }

    private static <T> void cancel(List<Future<T>> futures) {
        for (Future<T> f : futures) {
            f.cancel(true);
        }
    }

    /** As {@code ExecutorService.close()}. */
    static void close(ExecutorService e) {
        e.shutdown();
        boolean interrupted = false;
        boolean ended = e.isTerminated();
        while (!ended) {
            try {
                ended = e.awaitTermination(1, TimeUnit.DAYS);
            } catch (InterruptedException x) {
                if (!interrupted) {
                    e.shutdownNow();
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            PicoThread.currentThread().interrupt();
        }
    }
}
