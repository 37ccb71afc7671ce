package lamprey.concurrent;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import lamprey.PicoRuntime;
import lamprey.PicoThread;
import lamprey.PicoThreadFactory;
import lamprey.WaitReason;

/**
 * Light threads that run tasks from a queue: what {@link ThreadPoolExecutor} and {@link ScheduledThreadPoolExecutor} are made of, as the JDK defines these.
 *
 * <p><b>States.</b> RUNNING, SHUTDOWN (no new tasks; those in the queue still run), STOP (no task starts), TERMINATED (no worker is left), in this order.
 *
 * <p><b>Who may touch what.</b> All fields that change, under the monitor of this object, which is held for a few steps; never while a task, the queue's blocking
 * methods or the program's hooks run. A worker is interrupted for the pool's sake only while it is {@link Worker#idle}, so that no task sees it; at STOP
 * all are.
 */
final class Pool {
    static final int RUNNING = 0;
    static final int SHUTDOWN = 1;
    static final int STOP = 2;
    static final int TERMINATED = 3;

    /** What the executor adds. */
    interface Hooks {
        void before(PicoThread thread, Runnable task);

        void after(Runnable task, Throwable failure);

        void ended();

        void rejected(Runnable task);
    }

    final BlockingQueue<Runnable> queue;
    private final Hooks hooks;
    private final Set<Worker> workers = new HashSet<>();
    private final WaitList termination = new WaitList(WaitReason.FUTURE);
    PicoThreadFactory factory;
    volatile int state;
    int core;
    int max;
    long keepAlive;
    boolean coreTimesOut;
    int largest;
    long completed;

    Pool(int core, int max, long keepAlive, BlockingQueue<Runnable> queue, PicoThreadFactory factory, Hooks hooks) {
        this.core = core;
        this.max = max;
        this.keepAlive = keepAlive;
        this.queue = queue;
        this.factory = factory;
        this.hooks = hooks;
    }

    // ---- Workers.

    private final class Worker implements Runnable {
        private Runnable first;
        PicoThread thread;
        /** It waits for a task. */
        boolean idle;
        boolean running;

        Worker(Runnable first) {
            this.first = first;
        }

        @Override
        public void run() {
            boolean failed = true;
            try {
                Runnable task = first;
                first = null;
                while (task != null || (task = next(this)) != null) {
                    perform(this, task);
                    task = null;
                }
                failed = false;
            } finally {
                left(this, failed);
            }
        }
    }

    /** Runs one task. The interrupts of the pool do not reach it, but after STOP. */
    private void perform(Worker w, Runnable task) {
        if (state < STOP) {
            PicoThread.interrupted();
        }
        // Looked at again: STOP may have come between.
        if (state >= STOP) {
            w.thread.interrupt();
        }
        synchronized (this) {
            w.running = true;
        }
        Throwable failure = null;
        try {
            hooks.before(w.thread, task);
            try {
                task.run();
            } catch (Throwable t) {
                failure = t;
                throw t;
            } finally {
                hooks.after(task, failure);
            }
        } finally {
            synchronized (this) {
                w.running = false;
                completed++;
            }
        }
    }

    /** The next task; null if the worker is to end. Blocks. */
    private Runnable next(Worker w) {
        boolean late = false;
        for (;;) {
            boolean timed;
            synchronized (this) {
                w.idle = false;
                if (state >= STOP || state == SHUTDOWN && queue.isEmpty()) {
                    return null;
                }
                timed = coreTimesOut || workers.size() > core;
                if ((workers.size() > max || timed && late) && (workers.size() > 1 || queue.isEmpty())) {
                    // Counted out here, so that others do not leave for the same reason.
                    workers.remove(w);
                    return null;
                }
                // The last worker of a queue whose elements are not due waits for them.
                timed &= !late;
                w.idle = true;
            }
            try {
                Runnable task = timed ? queue.poll(keepAlive, TimeUnit.NANOSECONDS) : queue.take();
                synchronized (this) {
                    w.idle = false;
                }
                if (task != null) {
                    return task;
                }
                late = true;
            } catch (InterruptedException e) {
                late = false;
            }
        }
    }

    private void left(Worker w, boolean failed) {
        boolean replace;
        synchronized (this) {
            workers.remove(w);
            replace = state < STOP && (failed || !queue.isEmpty() && workers.isEmpty());
        }
        if (replace) {
            add(null, Integer.MAX_VALUE);
        }
        tryTerminate();
    }

    /** False if there are {@code limit} workers. */
    boolean add(Runnable first, int limit) {
        Worker w = new Worker(first);
        synchronized (this) {
            if (workers.size() >= limit || state >= STOP || state == SHUTDOWN && first != null) {
                return false;
            }
            workers.add(w);
            largest = Math.max(largest, workers.size());
        }
        boolean started = false;
        try {
            PicoThread t = factory.newThread(w);
            if (t != null) {
                w.thread = t;
                t.start();
                started = true;
                if (state >= STOP) {
                    t.interrupt();
                }
            }
            return started;
        } finally {
            if (!started) {
                synchronized (this) {
                    workers.remove(w);
                }
                tryTerminate();
            }
        }
    }

    // ---- Tasks.

    /** As {@link java.util.concurrent.ThreadPoolExecutor#execute}. May run the task in the calling thread, hence block, if the program's handler says so. */
    void execute(Runnable task) {
        if (task == null) {
            throw new NullPointerException("a task is null");
        }
        if (state == RUNNING && add(task, core)) {
            return;
        }
        if (state == RUNNING && queue.offer(task)) {
            if (state != RUNNING && queue.remove(task)) {
                hooks.rejected(task);
            } else {
                // At least one must be there to run it.
                add(null, 1);
            }
        } else if (state != RUNNING || !add(task, max)) {
            hooks.rejected(task);
        }
    }

    /** A task has been put into the queue directly: sees to it that there are workers. */
    void ensureWorker() {
        if (!add(null, core)) {
            add(null, 1);
        }
    }

    // ---- The end.

    void shutdown() {
        synchronized (this) {
            state = Math.max(state, SHUTDOWN);
            interruptIdle();
        }
        tryTerminate();
    }

    List<Runnable> stop() {
        synchronized (this) {
            state = Math.max(state, STOP);
            for (Worker w : workers) {
                if (w.thread != null) {
                    w.thread.interrupt();
                }
            }
        }
        List<Runnable> left = new ArrayList<>();
        queue.drainTo(left);
        // A queue of elements with a delay drains those that are due only.
        for (Runnable r : queue.toArray(new Runnable[0])) {
            if (queue.remove(r)) {
                left.add(r);
            }
        }
        tryTerminate();
        return left;
    }

    private void interruptIdle() {
        for (Worker w : workers) {
            if (w.idle) {
                w.thread.interrupt();
            }
        }
    }

    void tryTerminate() {
        synchronized (this) {
            if (state == RUNNING || state == TERMINATED || state == SHUTDOWN && !queue.isEmpty()) {
                return;
            }
            if (!workers.isEmpty()) {
                interruptIdle();
                return;
            }
            state = TERMINATED;
        }
        try {
            hooks.ended();
        } finally {
            ended = true;
            termination.signalAll();
        }
    }

    private volatile boolean ended;

    boolean isTerminated() {
        return ended;
    }

    /** Blocks. */
    boolean awaitTermination(long nanos) throws InterruptedException {
        long deadline = PicoRuntime.moment(nanos);
        while (!ended) {
            long left = deadline - PicoRuntime.nanoTime();
            if (left <= 0) {
                return false;
            }
            WaitList.Ticket t = termination.enter();
            if (ended) {
                termination.leave(t);
            } else {
                termination.await(t, left);
            }
        }
        return true;
    }

    // ---- Settings and questions.

    synchronized int size() {
        return workers.size();
    }

    synchronized int active() {
        int n = 0;
        for (Worker w : workers) {
            if (w.running) {
                n++;
            }
        }
        return n;
    }

    synchronized void resize(int newCore, int newMax) {
        core = newCore;
        max = newMax;
        interruptIdle();
    }
}
