package lamprey.concurrent;

import java.util.Collection;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import lamprey.PicoThread;

/**
 * A {@link java.util.concurrent.locks.ReentrantLock} that suspends light threads and parks kernel threads; owned by either. The methods do what those of the JDK do.
 *
 * <p>{@code isFair}, {@code hasQueuedThreads} and {@code getQueueLength} are final in the JDK's class; rewritten programs call {@link Locks} for the last two.
 */
public class ReentrantLock extends java.util.concurrent.locks.ReentrantLock {
    private static final long serialVersionUID = 1;
    private final Sync sync;

    /** An unfair lock. */
    public ReentrantLock() {
        this(false);
    }

    /** A fair lock is given to threads in the order in which they asked. */
    public ReentrantLock(boolean fair) {
        super(fair);
        sync = new Sync(fair);
    }

    /** The state is the number of times that the owner holds it. */
    static final class Sync extends QueuedSynchronizer {
        private static final long serialVersionUID = 1;
        private final boolean fair;

        Sync(boolean fair) {
            this.fair = fair;
        }

        /** A lock that is read from a stream is free, and nobody waits. */
        private Object readResolve() {
            return new Sync(fair);
        }

        @Override
        protected boolean tryAcquire(int n) {
            return tryAcquire(n, fair);
        }

        boolean tryAcquire(int n, boolean fairly) {
            PicoThread current = PicoThread.currentThread();
            int state = getState();
            if (state == 0) {
                if (!(fairly && hasQueuedPredecessors()) && compareAndSetState(0, n)) {
                    setExclusiveOwnerThread(current);
                    return true;
                }
                return false;
            }
            if (current != getExclusiveOwnerThread()) {
                return false;
            }
            if (state + n < 0) {
                throw new Error("a ReentrantLock is held too many times");
            }
            setState(state + n);
            return true;
        }

        @Override
        protected boolean tryRelease(int n) {
            if (!isHeldExclusively()) {
                throw new IllegalMonitorStateException("the lock is not held by " + PicoThread.currentThread() + " but by " + getExclusiveOwnerThread());
            }
            int left = getState() - n;
            if (left == 0) {
                setExclusiveOwnerThread(null);
            }
            setState(left);
            return left == 0;
        }

        @Override
        protected boolean isHeldExclusively() {
            return getState() != 0 && getExclusiveOwnerThread() == PicoThread.currentThread();
        }

        PicoThread owner() {
            return getState() == 0 ? null : getExclusiveOwnerThread();
        }

        ConditionObject newCondition() {
            return new ConditionObject();
        }

        int holds() {
            return isHeldExclusively() ? getState() : 0;
        }
    }

    @Override
    public void lock() {
        sync.acquire(1);
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        sync.acquireInterruptibly(1);
    }

    @Override
    public boolean tryLock() {
        return sync.tryAcquire(1, false);
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return sync.tryAcquireNanos(1, unit.toNanos(time));
    }

    @Override
    public void unlock() {
        sync.release(1);
    }

    @Override
    public Condition newCondition() {
        return sync.newCondition();
    }

    @Override
    public int getHoldCount() {
        return sync.holds();
    }

    @Override
    public boolean isHeldByCurrentThread() {
        return sync.holds() != 0;
    }

    @Override
    public boolean isLocked() {
        return sync.owner() != null;
    }

    @Override
    public boolean hasWaiters(Condition condition) {
        return sync.hasWaiters(own(condition));
    }

    @Override
    public int getWaitQueueLength(Condition condition) {
        return sync.getWaitQueueLength(own(condition));
    }

    private QueuedSynchronizer.ConditionObject own(Condition condition) {
        if (condition == null) {
            throw new NullPointerException();
        }
        if (!(condition instanceof QueuedSynchronizer.ConditionObject) || !sync.owns((QueuedSynchronizer.ConditionObject) condition)) {
            throw new IllegalArgumentException("the condition belongs to another lock");
        }
        return (QueuedSynchronizer.ConditionObject) condition;
    }

    /** The threads that wait for the lock. */
    protected Collection<PicoThread> getQueuedPicoThreads() {
        return sync.getQueuedThreads();
    }

    final Sync sync() {
        return sync;
    }

    @Override
    public String toString() {
        PicoThread owner = sync.owner();
        return getClass().getName() + "@" + Integer.toHexString(hashCode())
            + (owner == null ? "[Unlocked]" : "[Locked by thread " + owner.getName() + "]");
    }
}
