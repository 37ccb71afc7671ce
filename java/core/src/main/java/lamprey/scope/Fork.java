package lamprey.scope;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import lamprey.PicoThread;
import lamprey.channel.IVar;
import lamprey.event.Event;

/** The result of a thread of a {@link Scope}. */
public final class Fork<T> {
    private final Callable<? extends T> task;
    private final IVar<Result<T>> result = new IVar<>();
    private volatile PicoThread thread;

    private static final class Result<T> {
        final T value;
        final Throwable failure;

        Result(T value, Throwable failure) {
            this.value = value;
            this.failure = failure;
        }

        T get() throws ExecutionException {
            if (failure != null) {
                throw new ExecutionException(failure);
            }
            return value;
        }
    }

    Fork(Callable<? extends T> task) {
        this.task = task;
    }

    void thread(PicoThread t) {
        thread = t;
    }

    void compute() throws Exception {
        try {
            result.put(new Result<>(task.call(), null));
        } catch (Throwable t) {
            result.put(new Result<>(null, t));
            throw t;
        }
    }

    /**
     * The value. Blocks until it is computed.
     *
     * @throws ExecutionException if the thread has failed; the scope is then being cancelled
     * @throws InterruptedException if interrupted while this waits
     */
    public T join() throws ExecutionException, InterruptedException {
        return result.get().get();
    }

    /** Happens when the thread has computed its value, or has failed: the synchronisation then throws {@link IllegalStateException} with the cause. */
    public Event<T> joinEvt() {
        return result.getEvt().wrap(r -> {
            if (r.failure != null) {
                throw new IllegalStateException("a thread of the scope has failed", r.failure);
            }
            return r.value;
        });
    }

    /** Whether the thread has computed its value or failed. */
    public boolean isDone() {
        return result.isDone();
    }

    /** Its thread. */
    public PicoThread thread() {
        return thread;
    }
}
