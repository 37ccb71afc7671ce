package lamprey.concurrent;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.StampedLock;
import lamprey.Blocking;
import lamprey.PicoThread;

/**
 * {@link StampedLock}, for rewritten programs. The objects are the JDK's, as a stamp belongs to no thread: a light thread that cannot have the lock at once waits while a
 * kernel thread acquires it. Each such wait costs a kernel thread. What does not block is called as it is.
 */
public final class StampedLocks {
    private StampedLocks() {}

    /** A call that acquires. */
    private interface Acquire {
        long acquire() throws InterruptedException;
    }

    private static long steadfast(Acquire a) {
        try {
            return Blocking.call(a::acquire);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static void checkInterrupt() throws InterruptedException {
        if (PicoThread.interrupted()) {
            throw new InterruptedException();
        }
    }

    private static long interruptible(Acquire a) throws InterruptedException {
        return Kernel.<Long>interruptible(a::acquire);
    }

    /** {@code l.readLock()}. Blocks; not ended by an interrupt. */
    public static long readLock(StampedLock l) {
        long s = l.tryReadLock();
        return s != 0 ? s : steadfast(l::readLock);
    }

    /** {@code l.writeLock()}. Blocks; not ended by an interrupt. */
    public static long writeLock(StampedLock l) {
        long s = l.tryWriteLock();
        return s != 0 ? s : steadfast(l::writeLock);
    }

    /** {@code l.readLockInterruptibly()}. Blocks. */
    public static long readLockInterruptibly(StampedLock l) throws InterruptedException {
        checkInterrupt();
        long s = l.tryReadLock();
        return s != 0 ? s : interruptible(l::readLockInterruptibly);
    }

    /** {@code l.writeLockInterruptibly()}. Blocks. */
    public static long writeLockInterruptibly(StampedLock l) throws InterruptedException {
        checkInterrupt();
        long s = l.tryWriteLock();
        return s != 0 ? s : interruptible(l::writeLockInterruptibly);
    }

    /** {@code l.tryReadLock(time, unit)}. Blocks. */
    public static long tryReadLock(StampedLock l, long time, TimeUnit unit) throws InterruptedException {
        checkInterrupt();
        long s = l.tryReadLock();
        return s != 0 || time <= 0 ? s : interruptible(() -> l.tryReadLock(time, unit));
    }

    /** {@code l.tryWriteLock(time, unit)}. Blocks. */
    public static long tryWriteLock(StampedLock l, long time, TimeUnit unit) throws InterruptedException {
        checkInterrupt();
        long s = l.tryWriteLock();
        return s != 0 || time <= 0 ? s : interruptible(() -> l.tryWriteLock(time, unit));
    }

    /** {@code l.asReadLock()}. */
    public static Lock asReadLock(StampedLock l) {
        return new View(l, false);
    }

    /** {@code l.asWriteLock()}. */
    public static Lock asWriteLock(StampedLock l) {
        return new View(l, true);
    }

    /** {@code l.asReadWriteLock()}. */
    public static ReadWriteLock asReadWriteLock(StampedLock l) {
        return new ReadWriteLock() {
            @Override
            public Lock readLock() {
                return asReadLock(l);
            }

            @Override
            public Lock writeLock() {
                return asWriteLock(l);
            }
        };
    }

    /** The lock without its stamps: the JDK's view, but for what blocks. */
    private static final class View implements Lock {
        private final StampedLock lock;
        private final boolean writes;
        private final Lock view;

        View(StampedLock lock, boolean writes) {
            this.lock = lock;
            this.writes = writes;
            this.view = writes ? lock.asWriteLock() : lock.asReadLock();
        }

        @Override
        public void lock() {
            if (writes) {
                StampedLocks.writeLock(lock);
            } else {
                StampedLocks.readLock(lock);
            }
        }

        @Override
        public void lockInterruptibly() throws InterruptedException {
            if (writes) {
                StampedLocks.writeLockInterruptibly(lock);
            } else {
                StampedLocks.readLockInterruptibly(lock);
            }
        }

        @Override
        public boolean tryLock() {
            return view.tryLock();
        }

        @Override
        public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
            return (writes ? StampedLocks.tryWriteLock(lock, time, unit) : StampedLocks.tryReadLock(lock, time, unit)) != 0;
        }

        @Override
        public void unlock() {
            view.unlock();
        }

        @Override
        public Condition newCondition() {
            return view.newCondition();
        }
    }
}
