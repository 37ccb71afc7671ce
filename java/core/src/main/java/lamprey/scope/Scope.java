package lamprey.scope;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import lamprey.Blocker;
import lamprey.Parking;
import lamprey.PicoThread;
import lamprey.WaitReason;
import lamprey.channel.IVar;
import lamprey.event.Event;
import lamprey.instrument.Suspendable;

/**
 * Threads that end before a block of code does:
 * <pre>
 * Scope.run(s -&gt; {
 *     Fork&lt;Page&gt; a = s.fork(() -&gt; fetch(first));
 *     Fork&lt;Page&gt; b = s.fork(() -&gt; fetch(second));
 *     return merge(a.join(), b.join());
 * });
 * </pre>
 *
 * <p>The first failure, of the body or of a thread, cancels the scope: all its threads, and the body, are interrupted. It is thrown by {@link #run}, after all have
 * ended; later failures are added to it as suppressed ones.
 *
 * <p><b>Who may touch what.</b> The fields that change, under the monitor of this object, which is held for a few steps only. A thread is in {@link #threads} from before
 * its start until it ends; whoever cancels interrupts those that are in it, and a thread that is added later is interrupted at once.
 */
public final class Scope {
    private final PicoThread owner = PicoThread.currentThread();
    private final List<Child> threads = new ArrayList<>();
    /** The wait for the end of the last thread, after that of the body; null if there is none. */
    private End end;
    private Throwable failure;
    private boolean cancelled;
    /** The body is over: it is not interrupted any more. */
    private boolean closing;
    private boolean ended;

    private Scope() {}

    /** What runs in a scope; may block. */
    public interface Body<T> {
        /** The computation. */
        @Suspendable
        T run(Scope scope) throws Exception;
    }

    /** What runs in a scope and has no result; may block. */
    public interface Action {
        /** The computation. */
        @Suspendable
        void run(Scope scope) throws Exception;
    }

    /**
     * Runs {@code body}, waits for all threads of its scope, and returns the result of the body. Blocks. If the calling thread is interrupted meanwhile, the scope
     * is cancelled, and this throws {@link InterruptedException} after the threads have ended.
     *
     * @throws Exception the first failure, of the body or of a thread
     * @throws lamprey.instrument.PinnedError if this has to wait for threads and cannot be suspended: the scope is cancelled, and its threads may still run
     */
    public static <T> T call(Body<T> body) throws Exception {
        return new Scope().execute(body, null);
    }

    /** As {@link #call}, without a result. */
    public static void run(Action action) throws Exception {
        new Scope().execute(new Body<Void>() {
            @Override
            public Void run(Scope s) throws Exception {
                action.run(s);
                return null;
            }
        }, null);
    }

    /**
     * As {@link #call}, within this time: when it is over the scope is cancelled.
     *
     * @throws TimeoutException if the time was over before all had ended
     */
    public static <T> T call(long time, TimeUnit unit, Body<T> body) throws Exception {
        return new Scope().execute(body, Event.timeout(time, unit));
    }

    /** Starts a thread in this scope. Does not block. */
    public PicoThread spawn(Runnable task) {
        return start(new Child(this, null, task));
    }

    /** Starts a thread that computes a value. Does not block. */
    public <T> Fork<T> fork(Callable<? extends T> task) {
        Fork<T> f = new Fork<>(task);
        f.thread(start(new Child(this, f, null)));
        return f;
    }

    /** Interrupts all threads of this scope, also those that are started later, and the body. Does not block. */
    public void cancel() {
        List<Child> all;
        synchronized (this) {
            if (cancelled) {
                return;
            }
            cancelled = true;
            all = new ArrayList<>(threads);
            if (!closing && PicoThread.currentThread() != owner) {
                // Under the monitor: when the body is over no interrupt is still to come.
                owner.interrupt();
            }
        }
        for (Child t : all) {
            t.interrupt();
        }
    }

    /** Whether it has been cancelled. */
    public boolean isCancelled() {
        synchronized (this) {
            return cancelled;
        }
    }

    private PicoThread start(Child child) {
        boolean stop;
        synchronized (this) {
            if (ended) {
                throw new IllegalStateException("the scope has ended; threads are started in it by its body and its threads");
            }
            threads.add(child);
            stop = cancelled;
        }
        if (stop) {
            child.interrupt();
        }
        boolean started = false;
        try {
            child.start();
            started = true;
        } finally {
            if (!started) {
                // Or the scope would wait for it for ever.
                childEnded(child);
            }
        }
        if (stop) {
            child.interrupt();
        }
        return child;
    }

    private <T> T execute(Body<T> body, Event<Void> deadline) throws Exception {
        Deadline clock = deadline == null ? null : new Deadline(this, deadline);
        if (clock != null) {
            clock.setDaemon(true);
            clock.start();
        }
        T result = null;
        try {
            result = body.run(this);
        } catch (Throwable t) {
            failed(t);
        }
        boolean interrupted = waitForAll();
        if (clock != null) {
            clock.stop.tryPut(null);
        }
        return outcome(result, interrupted);
    }

    /** Whether the thread was interrupted meanwhile by somebody else. */
    private boolean waitForAll() {
        boolean cancelledBefore;
        synchronized (this) {
            closing = true;
            cancelledBefore = cancelled;
        }
        // The interrupt by which the body was cancelled has done its work.
        boolean interrupted = PicoThread.interrupted() && !cancelledBefore;
        if (interrupted) {
            cancel();
        }
        for (;;) {
            End e;
            synchronized (this) {
                if (threads.isEmpty()) {
                    ended = true;
                    return interrupted;
                }
                e = new End(this);
                end = e;
            }
            try {
                Parking.await(e);
            } catch (InterruptedException interrupt) {
                interrupted = true;
                cancel();
            }
        }
    }

    private <T> T outcome(T result, boolean interrupted) throws Exception {
        Throwable t;
        synchronized (this) {
            t = failure;
        }
        if (t == null && interrupted) {
            throw new InterruptedException();
        }
        if (interrupted) {
            owner.interrupt();
        }
        if (t instanceof Exception) {
            throw (Exception) t;
        }
        if (t != null) {
            throw (Error) t;
        }
        return result;
    }

    /** A failure of the body or of a thread. */
    void failed(Throwable t) {
        synchronized (this) {
            if (failure == null) {
                failure = t instanceof Exception || t instanceof Error ? t : new RuntimeException(t);
            } else if (!(cancelled && t instanceof InterruptedException) && !isCause(failure, t) && !isCause(t, failure)) {
                // A cancelled thread ends by an InterruptedException, which says nothing new; nor does a join that throws what its thread has failed with.
                failure.addSuppressed(t);
            }
        }
        cancel();
    }

    /** Whether {@code cause} is {@code t} or among its causes, of which there may be a cycle. */
    private static boolean isCause(Throwable cause, Throwable t) {
        int most = 100;
        for (Throwable c = t; c != null && most > 0; c = c.getCause(), most--) {
            if (c == cause) {
                return true;
            }
        }
        return false;
    }

    private void childEnded(Child child) {
        synchronized (this) {
            threads.remove(child);
            if (threads.isEmpty() && closing) {
                ended = true;
                if (end != null) {
                    end.deliver(null);
                }
            }
        }
    }

    /** The wait for the last thread. */
    private static final class End extends Blocker {
        private final Scope scope;

        End(Scope scope) {
            super(scope.owner);
            this.scope = scope;
        }

        @Override
        protected WaitReason reason() {
            return WaitReason.SCOPE;
        }

        @Override
        protected List<PicoThread> holders() {
            synchronized (scope) {
                return new ArrayList<>(scope.threads);
            }
        }

        @Override
        protected void abandoned() {
            scope.cancel();
        }
    }

    private static final class Child extends PicoThread {
        private final Scope scope;
        private final Fork<?> fork;
        private final Runnable task;

        Child(Scope scope, Fork<?> fork, Runnable task) {
            this.scope = scope;
            this.fork = fork;
            this.task = task;
        }

        @Override
        public void run() {
            try {
                if (fork != null) {
                    fork.compute();
                } else {
                    task.run();
                }
            } catch (Throwable t) {
                scope.failed(t);
            }
            scope.childEnded(this);
        }
    }

    /** Cancels a scope when the time is over. */
    private static final class Deadline extends PicoThread {
        final IVar<Void> stop = new IVar<>();
        private final Scope scope;
        private final Event<Void> time;

        Deadline(Scope scope, Event<Void> time) {
            this.scope = scope;
            this.time = time;
        }

        @Override
        public void run() {
            try {
                if (Event.prefer(stop.getEvt().wrap(x -> false), time.wrap(x -> true)).sync()) {
                    scope.failed(new TimeoutException("the time of the scope is over"));
                }
            } catch (InterruptedException e) {
                // Nobody knows this thread; it ends.
            }
        }
    }
}
