package lamprey.concurrent;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.locks.Condition;
import lamprey.Blocker;
import lamprey.Parking;
import lamprey.PicoRuntime;
import lamprey.PicoThread;
import lamprey.WaitReason;
import lamprey.instrument.Sites;

/**
 * What {@link java.util.concurrent.locks.AbstractQueuedSynchronizer} is, for light and kernel threads in any mixture; rewritten programs get it in its place. A
 * subclass says what acquiring and releasing means for {@link #getState()}; this class keeps the queue of those that wait.
 *
 * <p><b>Who acquires.</b> Whoever comes may try at once, unless the subclass asks {@link #hasQueuedPredecessors}. Of those in the queue only the first tries, again
 * each time it is woken, and keeps its place until it succeeds. The lock is not handed over: with hand-over each acquire of a contended lock would
 * wait for a whole round of the scheduler.
 *
 * <p><b>No wake is lost.</b> The first in the queue publishes its {@link Wait} before it tries; a release changes the state before it looks for that. One of
 * the two sees the other (both are volatile). A wake that meets one who has just acquired, or who gives up, is passed to the next (in {@link #dequeue}).
 *
 * <p><b>Who may touch what.</b> The links of nodes, {@link #tail}, and the queues of conditions: under the monitor of {@link #lock}, which is held for a few
 * steps only. {@link #head} is read without it.
 *
 * <p><b>Rejected.</b> A queue without locks (CLH): its cancellation is the most intricate part of the JDK's class, and a monitor that is held for some ten
 * instructions costs about as much as its compare-and-sets.
 */
public abstract class QueuedSynchronizer extends OwnableSynchronizer {
    private static final long serialVersionUID = 1;
    private static final AtomicIntegerFieldUpdater<QueuedSynchronizer> STATE =
        AtomicIntegerFieldUpdater.newUpdater(QueuedSynchronizer.class, "state");

    private volatile int state;
    transient volatile Node head;
    private transient Node tail;
    private final Lock lock = new Lock();

    /** For subclasses. */
    protected QueuedSynchronizer() {
        Sites.made(this);
    }

    /** An object with a monitor, that can be written to a stream with a program's synchronizer. */
    private static final class Lock implements Serializable {
        private static final long serialVersionUID = 1;
    }

    /** One thread that waits, in the queue or at a condition. */
    static final class Node {
        final PicoThread thread;
        final boolean shared;
        Node next;
        /** The node itself while it is in no queue. */
        Node previous = this;
        /** How to wake it; null until it has one. */
        volatile Wait wait;
        /** The condition whose queue it is in; null if none. */
        QueuedCondition at;

        Node(PicoThread thread, boolean shared) {
            this.thread = thread;
            this.shared = shared;
        }
    }

    /** One suspension of the thread of a node. */
    static class Wait extends Blocker {
        final QueuedSynchronizer of;
        final Node node;

        Wait(QueuedSynchronizer of, Node node) {
            super(node.thread);
            this.of = of;
            this.node = node;
        }

        @Override
        protected WaitReason reason() {
            return WaitReason.LOCK;
        }

        @Override
        protected String detail() {
            String type = of.getClass().getName();
            int nested = type.indexOf('$');
            PicoThread owner = of.getExclusiveOwnerThread();
            return (nested < 0 ? type : type.substring(0, nested)) + "@" + Integer.toHexString(System.identityHashCode(of)) + Sites.text(", ", of)
                + (owner == null ? "" : ", owned by " + owner.getName());
        }

        @Override
        protected List<PicoThread> holders() {
            return of.holders();
        }

        @Override
        protected void abandoned() {
            of.dequeue(node);
        }

        @Override
        protected void refused(Object value) {
            of.dequeue(node);
        }
    }

    /** Those that have what the waiting threads want, as far as they are known; for {@link Blocker#holders}. */
    List<PicoThread> holders() {
        PicoThread owner = getExclusiveOwnerThread();
        return owner == null ? Collections.emptyList() : Collections.singletonList(owner);
    }

    // ---- For subclasses: as in the JDK's class.

    /** The state. */
    protected final int getState() {
        return state;
    }

    /** Sets the state. */
    protected final void setState(int newState) {
        state = newState;
    }

    /** Sets the state to {@code update} if it is {@code expect}. */
    protected final boolean compareAndSetState(int expect, int update) {
        return STATE.compareAndSet(this, expect, update);
    }

    /** Whether acquiring exclusively has succeeded. */
    protected boolean tryAcquire(int arg) {
        throw new UnsupportedOperationException(getClass().getName() + " does not define tryAcquire");
    }

    /** Whether releasing makes it possible that others acquire. */
    protected boolean tryRelease(int arg) {
        throw new UnsupportedOperationException(getClass().getName() + " does not define tryRelease");
    }

    /** Negative if acquiring has failed. */
    protected int tryAcquireShared(int arg) {
        throw new UnsupportedOperationException(getClass().getName() + " does not define tryAcquireShared");
    }

    /** Whether releasing makes it possible that others acquire. */
    protected boolean tryReleaseShared(int arg) {
        throw new UnsupportedOperationException(getClass().getName() + " does not define tryReleaseShared");
    }

    /** Whether the calling thread holds it; needed for conditions. */
    protected boolean isHeldExclusively() {
        throw new UnsupportedOperationException(getClass().getName() + " does not define isHeldExclusively");
    }

    // ---- Acquiring and releasing.

    /** Acquires exclusively. Blocks; an interrupt stays set. */
    public final void acquire(int arg) {
        if (!tryAcquire(arg)) {
            queueSteadfastly(arg, false);
        }
    }

    /** Acquires exclusively. Blocks; throws if interrupted. */
    public final void acquireInterruptibly(int arg) throws InterruptedException {
        checkInterrupt();
        if (!tryAcquire(arg)) {
            acquireQueued(append(new Node(PicoThread.currentThread(), false)), arg, true, Long.MAX_VALUE);
        }
    }

    /** Acquires exclusively, within this time; false if that was not possible. Blocks; throws if interrupted. */
    public final boolean tryAcquireNanos(int arg, long nanos) throws InterruptedException {
        checkInterrupt();
        return tryAcquire(arg)
            || nanos > 0 && acquireQueued(append(new Node(PicoThread.currentThread(), false)), arg, true, nanos);
    }

    /** Releases. Does not block. */
    public final boolean release(int arg) {
        if (!tryRelease(arg)) {
            return false;
        }
        wakeFirst();
        return true;
    }

    /** Acquires in shared mode. Blocks; an interrupt stays set. */
    public final void acquireShared(int arg) {
        if (tryAcquireShared(arg) < 0) {
            queueSteadfastly(arg, true);
        }
    }

    /** Acquires in shared mode. Blocks; throws if interrupted. */
    public final void acquireSharedInterruptibly(int arg) throws InterruptedException {
        checkInterrupt();
        if (tryAcquireShared(arg) < 0) {
            acquireQueued(append(new Node(PicoThread.currentThread(), true)), arg, true, Long.MAX_VALUE);
        }
    }

    /** Acquires in shared mode, within this time; false if that was not possible. Blocks; throws if interrupted. */
    public final boolean tryAcquireSharedNanos(int arg, long nanos) throws InterruptedException {
        checkInterrupt();
        return tryAcquireShared(arg) >= 0
            || nanos > 0 && acquireQueued(append(new Node(PicoThread.currentThread(), true)), arg, true, nanos);
    }

    /** Releases in shared mode. Does not block. */
    public final boolean releaseShared(int arg) {
        if (!tryReleaseShared(arg)) {
            return false;
        }
        wakeFirst();
        return true;
    }

    private void queueSteadfastly(int arg, boolean shared) {
        try {
            acquireQueued(append(new Node(PicoThread.currentThread(), shared)), arg, false, Long.MAX_VALUE);
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        }
    }

    /** Waits at its place in the queue until it has acquired, or the time is up. */
    final boolean acquireQueued(Node n, int arg, boolean interruptible, long nanos) throws InterruptedException {
        boolean timed = nanos != Long.MAX_VALUE;
        long deadline = timed ? PicoRuntime.moment(nanos) : 0;
        boolean acquired = false;
        try {
            for (;;) {
                Wait w = new Wait(this, n);
                n.wait = w;
                if (head == n && (n.shared ? tryAcquireShared(arg) >= 0 : tryAcquire(arg))) {
                    acquired = true;
                    return true;
                }
                long left = timed ? deadline - PicoRuntime.nanoTime() : Long.MAX_VALUE;
                if (left <= 0) {
                    return false;
                }
                if (interruptible) {
                    Parking.await(w, left);
                } else {
                    Parking.awaitUninterruptibly(w, left);
                }
            }
        } finally {
            if (acquired) {
                acquired(n);
            } else {
                dequeue(n);
            }
        }
    }

    private static void checkInterrupt() throws InterruptedException {
        if (PicoThread.interrupted()) {
            throw new InterruptedException();
        }
    }

    // ---- The queue.

    final Node append(Node n) {
        synchronized (lock) {
            n.next = null;
            n.previous = tail;
            if (tail == null) {
                head = n;
            } else {
                tail.next = n;
            }
            tail = n;
        }
        return n;
    }

    /** The thread of the first node has acquired. */
    private void acquired(Node n) {
        unlink(n);
        // A release that has found this node meant the next; and those that share follow each other.
        if (n.wait.isDone() || n.shared && nextShares()) {
            wakeFirst();
        }
    }

    private boolean nextShares() {
        Node h = head;
        return h != null && h.shared;
    }

    /** Gives up, or passes a wake on that came to nothing. */
    final void dequeue(Node n) {
        unlink(n);
        wakeFirst();
    }

    private void unlink(Node n) {
        synchronized (lock) {
            if (n.previous == n) {
                return;
            }
            Node before = n.previous;
            if (before == null) {
                head = n.next;
            } else {
                before.next = n.next;
            }
            if (n.next == null) {
                tail = before;
            } else {
                n.next.previous = before;
            }
            n.previous = n;
            n.next = null;
        }
    }

    final void wakeFirst() {
        for (Node h = head; h != null; ) {
            Wait w = h.wait;
            if (w != null) {
                w.deliver(null);
            }
            // If it has left meanwhile, it may not have seen the delivery.
            Node now = head;
            if (now == h) {
                return;
            }
            h = now;
        }
    }

    /** The object whose monitor protects the queues. */
    final Object queueLock() {
        return lock;
    }

    // ---- Questions.

    /** Whether threads wait. */
    public final boolean hasQueuedThreads() {
        return head != null;
    }

    /** Whether a thread waits that came before the calling one. */
    public final boolean hasQueuedPredecessors() {
        Node h = head;
        return h != null && h.thread != PicoThread.currentThread();
    }

    /** The thread that has waited longest; null if there is none. */
    public final PicoThread getFirstQueuedThread() {
        Node h = head;
        return h == null ? null : h.thread;
    }

    /** Whether this thread waits. */
    public final boolean isQueued(PicoThread thread) {
        return getQueuedThreads().contains(thread);
    }

    /** The number of threads that wait. */
    public final int getQueueLength() {
        return getQueuedThreads().size();
    }

    /** The threads that wait, in order. */
    public final Collection<PicoThread> getQueuedThreads() {
        Collection<PicoThread> threads = new ArrayList<>();
        synchronized (lock) {
            for (Node n = head; n != null; n = n.next) {
                threads.add(n.thread);
            }
        }
        return threads;
    }

    /** A condition of this synchronizer. */
    public class ConditionObject extends QueuedCondition implements Condition {
        /** A new one. */
        public ConditionObject() {
            super(QueuedSynchronizer.this);
        }
    }

    /** Whether the condition belongs to this. */
    public final boolean owns(ConditionObject condition) {
        return condition.belongsTo(this);
    }

    /** Whether threads wait for the condition; the caller must hold this. */
    public final boolean hasWaiters(ConditionObject condition) {
        return condition.hasWaiters();
    }

    /** The number of threads that wait for the condition; the caller must hold this. */
    public final int getWaitQueueLength(ConditionObject condition) {
        return condition.getWaitQueueLength();
    }

    /** The threads that wait for the condition; the caller must hold this. */
    public final Collection<PicoThread> getWaitingThreads(ConditionObject condition) {
        return condition.getWaitingThreads();
    }

    /** A name for messages. */
    @Override
    public String toString() {
        return super.toString() + "[State = " + state + ", " + (head == null ? "" : "non") + "empty queue]";
    }

    static long nanos(long time, TimeUnit unit) {
        return Math.max(0, unit.toNanos(time));
    }
}
