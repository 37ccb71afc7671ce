package lamprey.concurrent;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import lamprey.PicoRuntime;
import lamprey.PicoThread;
import lamprey.WaitReason;

/**
 * A {@link java.util.concurrent.FutureTask} that suspends light threads and parks kernel threads. The methods do what those of the JDK do.
 *
 * <p>The outcome is kept by the JDK's class. This one runs the computation (so that it is called by transformed code) and blocks.
 */
public class FutureTask<V> extends java.util.concurrent.FutureTask<V> {
    @SuppressWarnings("rawtypes")
    private static final AtomicReferenceFieldUpdater<FutureTask, PicoThread> RUNNER =
        AtomicReferenceFieldUpdater.newUpdater(FutureTask.class, PicoThread.class, "runner");

    private final Callable<V> callable;
    private final WaitList waiting = new WaitList(WaitReason.FUTURE);
    /** The thread that runs the computation. Set to null, and interrupted by {@link #cancel}, under the monitor of {@link #waiting}. */
    private volatile PicoThread runner;

    /** Of a computation. */
    public FutureTask(Callable<V> callable) {
        super(callable);
        this.callable = callable;
    }

    /** Of a computation and the value it ends with. */
    public FutureTask(Runnable task, V result) {
        this(new Executors.RunnableCall<>(task, result));
    }

    @Override
    public void run() {
        if (isDone() || !RUNNER.compareAndSet(this, null, PicoThread.currentThread())) {
            return;
        }
        try {
            if (!isDone()) {
                V result;
                try {
                    result = callable.call();
                } catch (Throwable t) {
                    setException(t);
                    return;
                }
                set(result);
            }
        } finally {
            stopped();
        }
    }

    @Override
    protected boolean runAndReset() {
        if (isDone() || !RUNNER.compareAndSet(this, null, PicoThread.currentThread())) {
            return false;
        }
        try {
            if (isDone()) {
                return false;
            }
            try {
                callable.call();
            } catch (Throwable t) {
                setException(t);
                return false;
            }
        } finally {
            stopped();
        }
        return !isDone();
    }

    private void stopped() {
        synchronized (waiting) {
            runner = null;
        }
    }

    @Override
    protected void set(V v) {
        super.set(v);
        ended();
    }

    @Override
    protected void setException(Throwable t) {
        super.setException(t);
        ended();
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        if (!super.cancel(mayInterruptIfRunning)) {
            return false;
        }
        synchronized (waiting) {
            PicoThread t = runner;
            if (mayInterruptIfRunning && t != null) {
                t.interrupt();
            }
        }
        ended();
        return true;
    }

    private void ended() {
        if (isDone()) {
            waiting.signalAll();
        }
    }

    @Override
    public V get() throws InterruptedException, ExecutionException {
        while (!isDone()) {
            WaitList.Ticket t = waiting.enter();
            if (isDone()) {
                waiting.leave(t);
            } else {
                waiting.await(t, Long.MAX_VALUE);
            }
        }
        return super.get();
    }

    @Override
    public V get(long time, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        long deadline = PicoRuntime.nanoTime() + unit.toNanos(time);
        while (!isDone()) {
            long left = deadline - PicoRuntime.nanoTime();
            if (left <= 0) {
                throw new TimeoutException();
            }
            WaitList.Ticket t = waiting.enter();
            if (isDone()) {
                waiting.leave(t);
            } else {
                waiting.await(t, left);
            }
        }
        return super.get();
    }
}
