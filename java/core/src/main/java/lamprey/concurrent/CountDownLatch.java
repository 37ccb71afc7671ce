package lamprey.concurrent;

import java.util.concurrent.TimeUnit;

/** A {@link java.util.concurrent.CountDownLatch} that suspends light threads and parks kernel threads. The methods do what those of the JDK do. */
public class CountDownLatch extends java.util.concurrent.CountDownLatch {
    private final Sync sync;

    /** To be counted down from {@code count}. */
    public CountDownLatch(int count) {
        super(count);
        sync = new Sync(count);
    }

    /** The state is the count. */
    private static final class Sync extends QueuedSynchronizer {
        private static final long serialVersionUID = 1;

        Sync(int count) {
            setState(count);
        }

        @Override
        protected int tryAcquireShared(int unused) {
            return getState() == 0 ? 1 : -1;
        }

        @Override
        protected boolean tryReleaseShared(int unused) {
            for (;;) {
                int state = getState();
                if (state == 0) {
                    return false;
                }
                if (compareAndSetState(state, state - 1)) {
                    return state == 1;
                }
            }
        }

        int count() {
            return getState();
        }
    }

    @Override
    public void await() throws InterruptedException {
        sync.acquireSharedInterruptibly(1);
    }

    @Override
    public boolean await(long time, TimeUnit unit) throws InterruptedException {
        return sync.tryAcquireSharedNanos(1, unit.toNanos(time));
    }

    @Override
    public void countDown() {
        sync.releaseShared(1);
    }

    @Override
    public long getCount() {
        return sync.count();
    }

    @Override
    public String toString() {
        return getClass().getName() + "@" + Integer.toHexString(hashCode()) + "[Count = " + sync.count() + "]";
    }
}
