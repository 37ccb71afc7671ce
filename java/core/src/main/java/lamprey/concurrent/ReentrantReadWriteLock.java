package lamprey.concurrent;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import lamprey.PicoThread;

/**
 * A {@link java.util.concurrent.locks.ReentrantReadWriteLock} that suspends light threads and parks kernel threads. The methods do what those of the JDK do: the
 * writer may read; a reader that holds the lock gets it again whoever waits; others queue behind a writer that waits first.
 */
public class ReentrantReadWriteLock extends java.util.concurrent.locks.ReentrantReadWriteLock {
    private static final long serialVersionUID = 1;
    private final Sync sync;
    private final ReadLock reader;
    private final WriteLock writer;

    /** An unfair one. */
    public ReentrantReadWriteLock() {
        this(false);
    }

    /** A fair one is given to threads in the order in which they asked. */
    public ReentrantReadWriteLock(boolean fair) {
        super(fair);
        sync = new Sync(fair);
        reader = new ReadLock(this, sync);
        writer = new WriteLock(this, sync);
    }

    /** The state: the writer's holds in the low 16 bits, the readers' holds, of all together, above. */
    static final class Sync extends QueuedSynchronizer {
        private static final long serialVersionUID = 1;
        private static final int READ = 1 << 16;
        private static final int WRITES = READ - 1;
        private final boolean fair;
        /** How many times each reader holds it. Under its own monitor. */
        private final transient Map<PicoThread, Integer> holds = new HashMap<>();

        Sync(boolean fair) {
            this.fair = fair;
        }

        /** A lock that is read from a stream is free, and nobody waits. */
        private Object readResolve() {
            return new Sync(fair);
        }

        @Override
        List<PicoThread> holders() {
            List<PicoThread> writer = super.holders();
            synchronized (holds) {
                return writer.isEmpty() ? new ArrayList<>(holds.keySet()) : writer;
            }
        }

        @Override
        protected boolean tryAcquire(int n) {
            return tryWrite(n, fair);
        }

        boolean tryWrite(int n, boolean fairly) {
            PicoThread current = PicoThread.currentThread();
            int state = getState();
            if (state == 0) {
                if (fairly && hasQueuedPredecessors() || !compareAndSetState(0, n)) {
                    return false;
                }
                setExclusiveOwnerThread(current);
                return true;
            }
            if ((state & WRITES) == 0 || getExclusiveOwnerThread() != current) {
                return false;
            }
            if ((state & WRITES) + n > WRITES) {
                throw new Error("a write lock is held too many times");
            }
            // The writer may hold read locks too; only it changes the state now.
            setState(state + n);
            return true;
        }

        @Override
        protected boolean tryRelease(int n) {
            if (!isHeldExclusively()) {
                throw new IllegalMonitorStateException("the write lock is not held by " + PicoThread.currentThread());
            }
            int left = getState() - n;
            boolean free = (left & WRITES) == 0;
            if (free) {
                setExclusiveOwnerThread(null);
            }
            setState(left);
            return free;
        }

        @Override
        protected int tryAcquireShared(int unused) {
            return tryRead(true) ? 1 : -1;
        }

        boolean tryRead(boolean queueing) {
            PicoThread current = PicoThread.currentThread();
            for (;;) {
                int state = getState();
                if ((state & WRITES) != 0 && getExclusiveOwnerThread() != current) {
                    return false;
                }
                if (queueing && (state & WRITES) == 0 && mustQueue(current)) {
                    return false;
                }
                if (state >>> 16 == WRITES) {
                    throw new Error("a read lock is held too many times");
                }
                if (compareAndSetState(state, state + READ)) {
                    synchronized (holds) {
                        holds.merge(current, 1, Integer::sum);
                    }
                    return true;
                }
            }
        }

        private boolean mustQueue(PicoThread current) {
            boolean others = fair ? hasQueuedPredecessors() : writerIsFirst(current);
            return others && readHolds(current) == 0;
        }

        private boolean writerIsFirst(PicoThread current) {
            Node h = head;
            return h != null && !h.shared && h.thread != current;
        }

        @Override
        protected boolean tryReleaseShared(int unused) {
            PicoThread current = PicoThread.currentThread();
            synchronized (holds) {
                Integer n = holds.get(current);
                if (n == null) {
                    throw new IllegalMonitorStateException("the read lock is not held by " + current);
                }
                if (n == 1) {
                    holds.remove(current);
                } else {
                    holds.put(current, n - 1);
                }
            }
            for (;;) {
                int state = getState();
                if (compareAndSetState(state, state - READ)) {
                    return state - READ == 0;
                }
            }
        }

        @Override
        protected boolean isHeldExclusively() {
            return (getState() & WRITES) != 0 && getExclusiveOwnerThread() == PicoThread.currentThread();
        }

        int readHolds(PicoThread thread) {
            synchronized (holds) {
                return holds.getOrDefault(thread, 0);
            }
        }

        int reads() {
            return getState() >>> 16;
        }

        boolean isWritten() {
            return (getState() & WRITES) != 0;
        }

        int writeHolds() {
            return isHeldExclusively() ? getState() & WRITES : 0;
        }

        Condition newCondition() {
            return new ConditionObject();
        }
    }

    /** Its read lock. */
    public static class ReadLock extends java.util.concurrent.locks.ReentrantReadWriteLock.ReadLock {
        private static final long serialVersionUID = 1;
        private final Sync sync;

        ReadLock(ReentrantReadWriteLock lock, Sync sync) {
            super(lock);
            this.sync = sync;
        }

        @Override
        public void lock() {
            sync.acquireShared(1);
        }

        @Override
        public void lockInterruptibly() throws InterruptedException {
            sync.acquireSharedInterruptibly(1);
        }

        @Override
        public boolean tryLock() {
            return sync.tryRead(false);
        }

        @Override
        public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
            return sync.tryAcquireSharedNanos(1, unit.toNanos(time));
        }

        @Override
        public void unlock() {
            sync.releaseShared(1);
        }

        @Override
        public String toString() {
            return getClass().getName() + "@" + Integer.toHexString(hashCode()) + "[Read locks = " + sync.reads() + "]";
        }
    }

    /** Its write lock. */
    public static class WriteLock extends java.util.concurrent.locks.ReentrantReadWriteLock.WriteLock {
        private static final long serialVersionUID = 1;
        private final Sync sync;

        WriteLock(ReentrantReadWriteLock lock, Sync sync) {
            super(lock);
            this.sync = sync;
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
            return sync.tryWrite(1, false);
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
        public boolean isHeldByCurrentThread() {
            return sync.isHeldExclusively();
        }

        @Override
        public int getHoldCount() {
            return sync.writeHolds();
        }

        @Override
        public String toString() {
            return getClass().getName() + "@" + Integer.toHexString(hashCode()) + (sync.isWritten() ? "[Locked]" : "[Unlocked]");
        }
    }

    @Override
    public ReadLock readLock() {
        return reader;
    }

    @Override
    public WriteLock writeLock() {
        return writer;
    }

    @Override
    public int getReadLockCount() {
        return sync.reads();
    }

    @Override
    public boolean isWriteLocked() {
        return sync.isWritten();
    }

    @Override
    public boolean isWriteLockedByCurrentThread() {
        return sync.isHeldExclusively();
    }

    @Override
    public int getWriteHoldCount() {
        return sync.writeHolds();
    }

    @Override
    public int getReadHoldCount() {
        return sync.readHolds(PicoThread.currentThread());
    }

    final Sync sync() {
        return sync;
    }

    @Override
    public String toString() {
        return getClass().getName() + "@" + Integer.toHexString(hashCode()) + "[Write locks = " + (sync.isWritten() ? 1 : 0)
            + ", Read locks = " + sync.reads() + "]";
    }
}
