package lamprey.tests.concurrent;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** A plain program that uses java.util.concurrent. Its results are the same whatever its threads are. */
public final class Programs {
    private Programs() {}

    /** One part. */
    interface Part {
        Object run() throws Exception;
    }

    /** Each part in a thread of its own, one after the other. */
    public static Map<String, String> all() throws Exception {
        Map<String, String> results = new LinkedHashMap<>();
        run(results, "program's gate", Programs::gate);
        run(results, "program's mutex", Programs::mutex);
        run(results, "queue and pool", Programs::queueAndPool);
        run(results, "program's pool", Programs::ownPool);
        run(results, "completable futures", Programs::futures);
        run(results, "locks", Programs::locks);
        run(results, "callbacks", Programs::callbacks);
        run(results, "barrier, latch, semaphore, phaser, exchanger", Programs::meetings);
        run(results, "tasks", Programs::tasks);
        run(results, "hooks of pools and futures", Hooks::hooks);
        run(results, "overridden futures", Hooks::overridden);
        run(results, "stamped locks", Hooks::stamped);
        run(results, "processes, fork and join", Hooks::kernel);
        run(results, "functions that change collections", Hooks::changes);
        run(results, "changes while a collection is looked at", Hooks::modified);
        run(results, "the end of threads", Hooks::ends);
        run(results, "messages", Hooks::messages);
        run(results, "selectors", Events::selectors);
        run(results, "references", Events::references);
        run(results, "watched files", Events::watches);
        run(results, "asynchronous channels", Events::asynchronous);
        return results;
    }

    static void run(Map<String, String> results, String name, Part part) throws Exception {
        String[] result = new String[1];
        Thread t = new Thread(() -> {
            try {
                result[0] = String.valueOf(part.run());
            } catch (Throwable e) {
                result[0] = "failed: " + e;
            }
        });
        t.start();
        t.join();
        results.put(name, result[0]);
    }

    private static final class Gate extends AbstractQueuedSynchronizer {
        @Override
        protected int tryAcquireShared(int unused) {
            return getState() != 0 ? 1 : -1;
        }

        @Override
        protected boolean tryReleaseShared(int unused) {
            setState(1);
            return true;
        }
    }

    private static Object gate() throws Exception {
        Gate gate = new Gate();
        AtomicInteger passed = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            Thread t = new Thread(() -> {
                gate.acquireShared(1);
                passed.incrementAndGet();
            });
            t.start();
            threads.add(t);
        }
        gate.releaseShared(1);
        for (Thread t : threads) {
            t.join();
        }
        return passed;
    }

    private static final class Mutex extends AbstractQueuedSynchronizer {
        @Override
        protected boolean tryAcquire(int unused) {
            if (compareAndSetState(0, 1)) {
                setExclusiveOwnerThread(Thread.currentThread());
                return true;
            }
            return false;
        }

        @Override
        protected boolean tryRelease(int unused) {
            setExclusiveOwnerThread(null);
            setState(0);
            return true;
        }

        @Override
        protected boolean isHeldExclusively() {
            return getExclusiveOwnerThread() == Thread.currentThread();
        }

        Condition newCondition() {
            return new ConditionObject();
        }
    }

    private static Object mutex() throws Exception {
        Mutex m = new Mutex();
        Condition changed = m.newCondition();
        int[] step = {0};
        Thread t = new Thread(() -> {
            m.acquire(1);
            while (step[0] == 0) {
                changed.awaitUninterruptibly();
            }
            step[0]++;
            changed.signal();
            m.release(1);
        });
        t.start();
        m.acquire(1);
        step[0]++;
        changed.signalAll();
        while (step[0] < 2) {
            changed.await();
        }
        m.release(1);
        t.join();
        return step[0];
    }

    private static Object queueAndPool() throws Exception {
        BlockingQueue<Integer> q = new LinkedBlockingQueue<>(5);
        BlockingDeque<Integer> d = new LinkedBlockingDeque<>(5);
        ExecutorService pool = Executors.newFixedThreadPool(4, r -> {
            Thread t = new Thread(r, "worker");
            t.setDaemon(true);
            return t;
        });
        List<Future<Integer>> futures = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            int k = i;
            futures.add(pool.submit(() -> {
                for (int j = 0; j < 50; j++) {
                    q.put(k);
                    d.putFirst(q.take());
                    d.takeLast();
                }
                return k;
            }));
        }
        int sum = 0;
        for (Future<Integer> f : futures) {
            sum += f.get(1, TimeUnit.MINUTES);
        }
        pool.shutdown();
        return sum + " " + pool.awaitTermination(1, TimeUnit.MINUTES) + " " + q.size() + " " + new PriorityBlockingQueue<>(Arrays.asList(3, 1)).take();
    }

    private static final class OwnPool extends ThreadPoolExecutor {
        final AtomicInteger before = new AtomicInteger();
        final AtomicInteger after = new AtomicInteger();
        final CountDownLatch ended = new CountDownLatch(1);

        OwnPool(ThreadFactory f) {
            super(2, 2, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(100), f, new CallerRunsPolicy());
        }

        @Override
        protected void beforeExecute(Thread t, Runnable r) {
            if (t == Thread.currentThread()) {
                before.incrementAndGet();
            }
            super.beforeExecute(t, r);
        }

        @Override
        protected void afterExecute(Runnable r, Throwable t) {
            after.incrementAndGet();
        }

        @Override
        protected void terminated() {
            ended.countDown();
        }
    }

    private static Object ownPool() throws Exception {
        OwnPool pool = new OwnPool(Thread::new);
        for (int i = 0; i < 20; i++) {
            pool.execute(() -> {
                try {
                    TimeUnit.MILLISECONDS.sleep(1);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
        }
        boolean hasFactory = pool.getThreadFactory() != null;
        pool.shutdown();
        pool.ended.await();
        return pool.before + " " + pool.after + " " + hasFactory + " " + pool.awaitTermination(1, TimeUnit.MINUTES) + " " + pool.getCompletedTaskCount();
    }

    private static Object futures() throws Exception {
        BlockingQueue<Integer> q = new SynchronousQueue<>();
        CompletableFuture<Integer> f = CompletableFuture.supplyAsync(() -> take(q)).thenApplyAsync(x -> x + take(q)).thenApply(x -> x * 2);
        q.put(3);
        q.put(4);
        CompletableFuture<Void> failed = CompletableFuture.runAsync(() -> {
            throw new IllegalStateException("expected");
        });
        String failure = "";
        try {
            failed.join();
        } catch (CompletionException e) {
            failure = e.getCause().getMessage();
        }
        FutureTask<Integer> task = new FutureTask<>(() -> take(q));
        new Thread(task).start();
        q.put(9);
        Future<Integer> any = f;
        return f.join() + " " + f.get() + " " + any.get(1, TimeUnit.MINUTES) + " " + failure + " " + task.get();
    }

    private static int take(BlockingQueue<Integer> q) {
        try {
            return q.take();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static Object locks() throws Exception {
        ReentrantReadWriteLock rw = new ReentrantReadWriteLock();
        Lock read = rw.readLock();
        ReentrantReadWriteLock.WriteLock write = rw.writeLock();
        read.lock();
        String result = write.tryLock() + " " + rw.getReadHoldCount();
        read.unlock();
        ReentrantLock lock = new ReentrantLock(true);
        lock.lock();
        Thread t = new Thread(() -> {
            lock.lock();
            lock.unlock();
        });
        t.start();
        while (!lock.hasQueuedThreads()) {
            Thread.yield();
        }
        result += " " + lock.hasQueuedThread(t) + lock.getQueueLength() + lock.isFair() + lock.isHeldByCurrentThread();
        lock.unlock();
        t.join();
        return result + lock.isLocked();
    }

    private static Object callbacks() throws Exception {
        BlockingQueue<Integer> q = new ArrayBlockingQueue<>(1);
        List<Integer> seen = new ArrayList<>();
        Thread t = new Thread(() -> Arrays.asList(1, 2, 3).forEach(x -> {
            try {
                q.put(x);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }));
        t.start();
        new ArrayList<>(Arrays.asList(10, 20)).forEach(x -> seen.add(x + take(q)));
        Map<String, Integer> map = new HashMap<>();
        seen.add(map.computeIfAbsent("a", k -> take(q)));
        t.join();
        map.forEach((k, v) -> {
            Thread.yield();
            seen.add(v);
        });
        return seen;
    }

    private static Object meetings() throws Exception {
        AtomicInteger rounds = new AtomicInteger();
        CyclicBarrier barrier = new CyclicBarrier(2, rounds::incrementAndGet);
        CountDownLatch latch = new CountDownLatch(1);
        Semaphore semaphore = new Semaphore(0);
        Phaser phaser = new Phaser(2);
        Exchanger<String> exchanger = new Exchanger<>();
        String[] other = new String[1];
        Thread t = new Thread(() -> {
            try {
                barrier.await();
                latch.countDown();
                semaphore.release(2);
                phaser.arriveAndAwaitAdvance();
                other[0] = exchanger.exchange("b");
            } catch (InterruptedException | BrokenBarrierException e) {
                throw new AssertionError(e);
            }
        });
        t.start();
        barrier.await();
        latch.await();
        semaphore.acquire(2);
        phaser.arriveAndAwaitAdvance();
        String mine = exchanger.exchange("a");
        t.join();
        return mine + other[0] + rounds + phaser.getPhase();
    }

    private static Object tasks() throws Exception {
        ScheduledExecutorService scheduled = Executors.newSingleThreadScheduledExecutor();
        AtomicInteger ticks = new AtomicInteger();
        CountDownLatch three = new CountDownLatch(3);
        scheduled.scheduleAtFixedRate(() -> {
            ticks.incrementAndGet();
            three.countDown();
        }, 0, 1, TimeUnit.MILLISECONDS);
        three.await();
        int value = scheduled.schedule(() -> 7, 1, TimeUnit.MILLISECONDS).get();
        scheduled.shutdown();
        boolean ended = scheduled.awaitTermination(1, TimeUnit.MINUTES);
        ExecutorService pool = Executors.newCachedThreadPool();
        ExecutorCompletionService<Integer> service = new ExecutorCompletionService<>(pool);
        service.submit(() -> 1);
        service.submit(() -> 1);
        int sum = service.take().get() + service.take().get();
        List<Callable<Integer>> calls = Arrays.asList(() -> 5, () -> {
            Thread.sleep(1);
            return 6;
        });
        for (Future<Integer> f : pool.invokeAll(calls)) {
            sum += f.get();
        }
        List<Runnable> left = pool.shutdownNow();
        return value + " " + ended + " " + (ticks.get() >= 3) + " " + sum + " " + left.size() + " "
            + new PriorityBlockingQueue<>(1, Comparator.<Integer>reverseOrder()).remainingCapacity();
    }
}
