package lamprey.concurrent;

import lamprey.PicoThread;

/** Final methods of the JDK's locks, for rewritten programs: of a lock of this package, and of the JDK's own. Do not block. */
public final class Locks {
    private Locks() {}

    /** {@code lock.hasQueuedThreads()}. */
    public static boolean hasQueuedThreads(java.util.concurrent.locks.ReentrantLock lock) {
        return lock instanceof ReentrantLock ? ((ReentrantLock) lock).sync().hasQueuedThreads() : lock.hasQueuedThreads();
    }

    /** {@code lock.getQueueLength()}. */
    public static int getQueueLength(java.util.concurrent.locks.ReentrantLock lock) {
        return lock instanceof ReentrantLock ? ((ReentrantLock) lock).sync().getQueueLength() : lock.getQueueLength();
    }

    /** {@code lock.hasQueuedThreads()}. */
    public static boolean hasQueuedThreads(java.util.concurrent.locks.ReentrantReadWriteLock lock) {
        return lock instanceof ReentrantReadWriteLock ? ((ReentrantReadWriteLock) lock).sync().hasQueuedThreads() : lock.hasQueuedThreads();
    }

    /** {@code lock.getQueueLength()}. */
    public static int getQueueLength(java.util.concurrent.locks.ReentrantReadWriteLock lock) {
        return lock instanceof ReentrantReadWriteLock ? ((ReentrantReadWriteLock) lock).sync().getQueueLength() : lock.getQueueLength();
    }

    /** {@code semaphore.hasQueuedThreads()}. */
    public static boolean hasQueuedThreads(java.util.concurrent.Semaphore semaphore) {
        return semaphore instanceof Semaphore ? ((Semaphore) semaphore).sync().hasQueuedThreads() : semaphore.hasQueuedThreads();
    }

    /** {@code semaphore.getQueueLength()}. */
    public static int getQueueLength(java.util.concurrent.Semaphore semaphore) {
        return semaphore instanceof Semaphore ? ((Semaphore) semaphore).sync().getQueueLength() : semaphore.getQueueLength();
    }

    /** {@code lock.hasQueuedThread(thread)}. */
    public static boolean hasQueuedThread(java.util.concurrent.locks.ReentrantLock lock, PicoThread thread) {
        return lock instanceof ReentrantLock && ((ReentrantLock) lock).sync().isQueued(thread);
    }

    /** {@code lock.hasQueuedThread(thread)}. */
    public static boolean hasQueuedThread(java.util.concurrent.locks.ReentrantReadWriteLock lock, PicoThread thread) {
        return lock instanceof ReentrantReadWriteLock && ((ReentrantReadWriteLock) lock).sync().isQueued(thread);
    }
}
