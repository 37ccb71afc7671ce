package lamprey.concurrent;

import java.lang.reflect.Method;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import lamprey.PicoRuntime;
import lamprey.PicoThread;
import lamprey.WaitReason;
import lamprey.instrument.Suspendable;

/**
 * A {@link java.util.concurrent.FutureTask} that suspends light threads and parks kernel threads. The methods do what those of the JDK do.
 *
 * <p>The outcome is kept by the JDK's class. This one runs the computation (so that it is called by transformed code) and blocks. The JDK's class calls {@link #done}, which
 * may block only if transformed code calls it. So if a subclass overrides it, the outcome is kept in another object of the JDK's class, {@link #outcome}, and this class calls
 * {@code done}. Then {@code state()} of JDK 19 and later, which cannot be overridden here, does not know the outcome.
 */
public class FutureTask<V> extends java.util.concurrent.FutureTask<V> {
    @SuppressWarnings("rawtypes")
    private static final AtomicReferenceFieldUpdater<FutureTask, PicoThread> RUNNER =
        AtomicReferenceFieldUpdater.newUpdater(FutureTask.class, PicoThread.class, "runner");

    private final Callable<V> callable;
    private final WaitList waiting = new WaitList(WaitReason.FUTURE);
    /** The thread that runs the computation. Set to null, and interrupted by {@link #cancel}, under the monitor of {@link #waiting}. */
    private volatile PicoThread runner;
    /** Null if no subclass overrides {@link #done}: then the outcome is in this object. */
    private final Outcome<V> outcome;

    /** Whether a subclass of the program overrides {@link #done}. */
    private static final ClassValue<Boolean> OVERRIDES_DONE = new ClassValue<Boolean>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            for (Class<?> c = type; c != FutureTask.class; c = c.getSuperclass()) {
                for (Method m : c.getDeclaredMethods()) {
                    if (m.getName().equals("done") && m.getParameterTypes().length == 0) {
                        return true;
                    }
                }
            }
            return false;
        }
    };

    /** The outcome, and whether {@link FutureTask#done} has been called for it. */
    private static final class Outcome<V> extends java.util.concurrent.FutureTask<V> {
        private final AtomicBoolean announced = new AtomicBoolean();

        Outcome(Callable<V> callable) {
            super(callable);
        }

        void complete(V v) {
            set(v);
        }

        void fail(Throwable t) {
            setException(t);
        }
    }

    /** Of a computation. */
    public FutureTask(Callable<V> callable) {
        super(callable);
        this.callable = callable;
        outcome = OVERRIDES_DONE.get(getClass()) ? new Outcome<>(callable) : null;
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

    /** Called once, by the thread that completes or cancels it, after those that wait have been woken; for subclasses. May block. */
    @Override
    @Suspendable
    protected void done() {}

    @Override
    public boolean isDone() {
        return outcome != null ? outcome.isDone() : super.isDone();
    }

    @Override
    public boolean isCancelled() {
        return outcome != null ? outcome.isCancelled() : super.isCancelled();
    }

    @Override
    protected void set(V v) {
        if (outcome == null) {
            super.set(v);
        } else {
            outcome.complete(v);
        }
        ended();
    }

    @Override
    protected void setException(Throwable t) {
        if (outcome == null) {
            super.setException(t);
        } else {
            outcome.fail(t);
        }
        ended();
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        if (!(outcome == null ? super.cancel(mayInterruptIfRunning) : outcome.cancel(false))) {
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
            if (outcome != null && outcome.announced.compareAndSet(false, true)) {
                done();
            }
        }
    }

    /** What it has ended with, without waiting. */
    private V result() throws InterruptedException, ExecutionException {
        return outcome != null ? outcome.get() : super.get();
    }

    /** As {@code Future.resultNow()} of JDK 19 and later. */
    public V resultNow() {
        if (!isDone() || isCancelled()) {
            throw new IllegalStateException(isDone() ? "Task was cancelled" : "Task has not completed");
        }
        try {
            return result();
        } catch (ExecutionException e) {
            throw new IllegalStateException("Task completed with exception");
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** As {@code Future.exceptionNow()} of JDK 19 and later. */
    public Throwable exceptionNow() {
        if (!isDone() || isCancelled()) {
            throw new IllegalStateException(isDone() ? "Task was cancelled" : "Task has not completed");
        }
        try {
            result();
        } catch (ExecutionException e) {
            return e.getCause();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        throw new IllegalStateException("Task completed with a result");
    }

    @Override
    public String toString() {
        return outcome == null ? super.toString() : getClass().getName() + "@" + Integer.toHexString(hashCode()) + " of " + outcome;
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
        return result();
    }

    @Override
    public V get(long time, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        long deadline = PicoRuntime.moment(unit.toNanos(time));
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
        return result();
    }
}
