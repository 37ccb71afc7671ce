package lamprey.concurrent;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.concurrent.TimeUnit;
import lamprey.Parking;
import lamprey.PicoThread;
import lamprey.PicoRuntime;
import lamprey.WaitReason;
import lamprey.concurrent.QueuedSynchronizer.Node;
import lamprey.concurrent.QueuedSynchronizer.Wait;

/**
 * A condition of a {@link QueuedSynchronizer}. A signal moves the node of a thread from the condition's queue to the synchronizer's, without waking it: the release
 * that follows wakes it, when it can acquire.
 *
 * <p>A wait ends in one of two ways, decided under {@link QueuedSynchronizer#queueLock}: it was signalled (its node has been moved), or it took its node out itself
 * (interrupted, or the time is up). Then the thread acquires again, without minding interrupts.
 *
 * <p>The lock is released when the thread has been suspended ({@link ConditionWait#suspended}), so it is still held if that fails. A program's own {@code tryRelease} is
 * called then too; the thread that waits is the current one to it, but it cannot block.
 */
class QueuedCondition {
    private final QueuedSynchronizer of;
    private Node first;
    private Node last;

    QueuedCondition(QueuedSynchronizer of) {
        this.of = of;
    }

    /** The wait for a signal. */
    private static final class ConditionWait extends Wait {
        final QueuedCondition condition;
        final int held;
        /** Whether the lock has been given up. */
        boolean released;

        ConditionWait(QueuedCondition condition, Node node, int held) {
            super(condition.of, node);
            this.condition = condition;
            this.held = held;
        }

        @Override
        protected WaitReason reason() {
            return WaitReason.CONDITION;
        }

        @Override
        protected List<PicoThread> holders() {
            return Collections.emptyList();
        }

        @Override
        protected boolean runsProgramCode() {
            return true;
        }

        @Override
        protected void suspended() {
            try {
                released = of.release(held);
                if (!released) {
                    fail(new IllegalMonitorStateException("the lock of a condition could not be released"));
                }
            } catch (Throwable e) {
                fail(e);
            }
        }

        @Override
        protected void abandoned() {
            leave();
        }

        @Override
        protected void refused(Object value) {
            leave();
        }

        private void leave() {
            if (!condition.remove(node)) {
                of.dequeue(node);
            }
        }
    }

    /** Waits for a signal. Blocks; throws if interrupted. The caller must hold the lock, and holds it afterwards. */
    public final void await() throws InterruptedException {
        await(true, Long.MAX_VALUE);
    }

    /** As {@link #await()}; an interrupt stays set. */
    public final void awaitUninterruptibly() {
        try {
            await(false, Long.MAX_VALUE);
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        }
    }

    /** As {@link #await()}, for this time at most; what is left of it. */
    public final long awaitNanos(long nanos) throws InterruptedException {
        long deadline = PicoRuntime.moment(nanos);
        await(true, Math.max(nanos, 0));
        return deadline - PicoRuntime.nanoTime();
    }

    /** As {@link #await()}, for this time at most; false if that is over. */
    public final boolean await(long time, TimeUnit unit) throws InterruptedException {
        return await(true, QueuedSynchronizer.nanos(time, unit));
    }

    /** As {@link #await()}, until this date at most; false if that is over. */
    public final boolean awaitUntil(Date deadline) throws InterruptedException {
        return await(true, PicoRuntime.nanosUntil(deadline.getTime()));
    }

    private boolean await(boolean interruptible, long nanos) throws InterruptedException {
        checkHeld();
        if (interruptible && PicoThread.interrupted()) {
            throw new InterruptedException();
        }
        int held = of.getState();
        Node n = new Node(PicoThread.currentThread(), false);
        ConditionWait w = new ConditionWait(this, n, held);
        n.wait = w;
        add(n);
        boolean interrupted = false;
        boolean signalled;
        try {
            if (interruptible) {
                Parking.await(w, nanos);
            } else {
                Parking.awaitUninterruptibly(w, nanos);
            }
        } catch (InterruptedException e) {
            interrupted = true;
        } finally {
            signalled = !remove(n);
        }
        if (w.released) {
            if (!signalled) {
                of.append(n);
            }
            of.acquireQueued(n, held, false, Long.MAX_VALUE);
        }
        if (interrupted) {
            if (!signalled) {
                throw new InterruptedException();
            }
            n.thread.interrupt();
        }
        return signalled;
    }

    /** Wakes the thread that has waited longest, if any. The caller must hold the lock. Does not block. */
    public final void signal() {
        checkHeld();
        Node n = first;
        if (n != null && remove(n)) {
            of.append(n);
        }
    }

    /** Wakes all that wait. The caller must hold the lock. Does not block. */
    public final void signalAll() {
        checkHeld();
        for (Node n = first; n != null; n = first) {
            if (remove(n)) {
                of.append(n);
            }
        }
    }

    final boolean belongsTo(QueuedSynchronizer synchronizer) {
        return of == synchronizer;
    }

    /** Whether threads wait; the caller must hold the lock. */
    protected final boolean hasWaiters() {
        return getWaitQueueLength() > 0;
    }

    /** The number of threads that wait; the caller must hold the lock. */
    protected final int getWaitQueueLength() {
        return getWaitingThreads().size();
    }

    /** The threads that wait; the caller must hold the lock. */
    protected final Collection<PicoThread> getWaitingThreads() {
        checkHeld();
        Collection<PicoThread> threads = new ArrayList<>();
        synchronized (of.queueLock()) {
            for (Node n = first; n != null; n = n.next) {
                threads.add(n.thread);
            }
        }
        return threads;
    }

    private void checkHeld() {
        if (!of.isHeldExclusively()) {
            throw new IllegalMonitorStateException("the current thread does not hold the lock of this condition");
        }
    }

    private void add(Node n) {
        synchronized (of.queueLock()) {
            n.previous = last;
            if (last == null) {
                first = n;
            } else {
                last.next = n;
            }
            last = n;
            n.at = this;
        }
    }

    /** False if a signal has taken it out. */
    private boolean remove(Node n) {
        synchronized (of.queueLock()) {
            if (n.at != this) {
                return false;
            }
            n.at = null;
            if (n.previous == null) {
                first = n.next;
            } else {
                n.previous.next = n.next;
            }
            if (n.next == null) {
                last = n.previous;
            } else {
                n.next.previous = n.previous;
            }
            n.previous = n;
            n.next = null;
            return true;
        }
    }
}
