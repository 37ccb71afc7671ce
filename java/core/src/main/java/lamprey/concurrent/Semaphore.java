package lamprey.concurrent;

import java.util.concurrent.TimeUnit;

/** A {@link java.util.concurrent.Semaphore} that suspends light threads and parks kernel threads. The methods do what those of the JDK do. */
public class Semaphore extends java.util.concurrent.Semaphore {
    private static final long serialVersionUID = 1;
    private final Sync sync;

    /** An unfair one. */
    public Semaphore(int permits) {
        this(permits, false);
    }

    /** A fair one gives permits to threads in the order in which they asked. */
    public Semaphore(int permits, boolean fair) {
        super(permits, fair);
        sync = new Sync(permits, fair);
    }

    /** The state is the number of permits. */
    static final class Sync extends QueuedSynchronizer {
        private static final long serialVersionUID = 1;
        private final boolean fair;

        Sync(int permits, boolean fair) {
            this.fair = fair;
            setState(permits);
        }

        /** A lock that is read from a stream is free, and nobody waits. */
        private Object readResolve() {
            return new Sync(getState(), fair);
        }

        @Override
        protected int tryAcquireShared(int n) {
            return fair && hasQueuedPredecessors() ? -1 : take(n);
        }

        int take(int n) {
            for (;;) {
                int state = getState();
                int left = state - n;
                if (left < 0 || compareAndSetState(state, left)) {
                    return left;
                }
            }
        }

        @Override
        protected boolean tryReleaseShared(int n) {
            for (;;) {
                int state = getState();
                if (state + n < state) {
                    throw new Error("a Semaphore has too many permits: " + state + " and " + n);
                }
                if (compareAndSetState(state, state + n)) {
                    return true;
                }
            }
        }

        int permits() {
            return getState();
        }

        void reduce(int n) {
            for (;;) {
                int state = getState();
                if (state - n > state) {
                    throw new Error("a Semaphore has too few permits: " + state + " less " + n);
                }
                if (compareAndSetState(state, state - n)) {
                    return;
                }
            }
        }

        int drain() {
            for (;;) {
                int state = getState();
                if (state == 0 || compareAndSetState(state, 0)) {
                    return state;
                }
            }
        }
    }

    private static int checked(int permits) {
        if (permits < 0) {
            throw new IllegalArgumentException("the number of permits is " + permits + "; it must not be negative");
        }
        return permits;
    }

    @Override
    public void acquire() throws InterruptedException {
        sync.acquireSharedInterruptibly(1);
    }

    @Override
    public void acquire(int permits) throws InterruptedException {
        sync.acquireSharedInterruptibly(checked(permits));
    }

    @Override
    public void acquireUninterruptibly() {
        sync.acquireShared(1);
    }

    @Override
    public void acquireUninterruptibly(int permits) {
        sync.acquireShared(checked(permits));
    }

    @Override
    public boolean tryAcquire() {
        return sync.take(1) >= 0;
    }

    @Override
    public boolean tryAcquire(int permits) {
        return sync.take(checked(permits)) >= 0;
    }

    @Override
    public boolean tryAcquire(long time, TimeUnit unit) throws InterruptedException {
        return sync.tryAcquireSharedNanos(1, unit.toNanos(time));
    }

    @Override
    public boolean tryAcquire(int permits, long time, TimeUnit unit) throws InterruptedException {
        return sync.tryAcquireSharedNanos(checked(permits), unit.toNanos(time));
    }

    @Override
    public void release() {
        sync.releaseShared(1);
    }

    @Override
    public void release(int permits) {
        sync.releaseShared(checked(permits));
    }

    @Override
    public int availablePermits() {
        return sync.permits();
    }

    @Override
    public int drainPermits() {
        return sync.drain();
    }

    @Override
    protected void reducePermits(int reduction) {
        sync.reduce(checked(reduction));
    }

    final Sync sync() {
        return sync;
    }

    @Override
    public String toString() {
        return getClass().getName() + "@" + Integer.toHexString(hashCode()) + "[Permits = " + sync.permits() + "]";
    }
}
