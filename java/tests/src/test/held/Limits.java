import java.util.Date;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Time limits at both ends of their range: what is negative is over at once, and what is too long to be counted is no limit. */
public class Limits {
    interface Wait {
        Object run(long time, TimeUnit unit) throws Exception;
    }

    static void past(String name, Wait w) throws Exception {
        StringBuilder line = new StringBuilder(name);
        for (TimeUnit unit : new TimeUnit[] {TimeUnit.NANOSECONDS, TimeUnit.DAYS}) {
            for (long time : new long[] {Long.MIN_VALUE, Long.MIN_VALUE + 1, -1, 0}) {
                String[] outcome = {"waits"};
                Thread t = new Thread(() -> {
                    try {
                        outcome[0] = String.valueOf(w.run(time, unit));
                    } catch (TimeoutException e) {
                        outcome[0] = "late";
                    } catch (Exception e) {
                        outcome[0] = e.toString();
                    }
                });
                t.setDaemon(true);
                t.start();
                t.join(120_000);
                line.append(' ').append(outcome[0]);
            }
        }
        System.out.println(line);
    }

    /** Waits until it is interrupted, some time after it has begun. */
    static void future(String name, Wait w) throws Exception {
        StringBuilder line = new StringBuilder(name);
        for (TimeUnit unit : new TimeUnit[] {TimeUnit.NANOSECONDS, TimeUnit.DAYS}) {
            Thread t = new Thread(() -> {
                try {
                    line.append(' ').append(w.run(Long.MAX_VALUE, unit));
                } catch (InterruptedException e) {
                    line.append(" interrupted");
                } catch (Exception e) {
                    line.append(' ').append(e);
                }
            });
            t.start();
            Thread.sleep(30);
            t.interrupt();
            t.join();
        }
        System.out.println(line);
    }

    public static void main(String[] args) throws Exception {
        ReentrantLock held = new ReentrantLock();
        ReentrantReadWriteLock written = new ReentrantReadWriteLock();
        held.lock();
        written.writeLock().lock();
        ArrayBlockingQueue<Integer> full = new ArrayBlockingQueue<>(1);
        full.add(1);
        ExecutorService pool = Executors.newSingleThreadExecutor();
        CountDownLatch open = new CountDownLatch(1);
        pool.submit(() -> {
            open.await();
            return 1;
        });

        past("linked", (n, u) -> new LinkedBlockingQueue<>().poll(n, u));
        past("array", (n, u) -> new ArrayBlockingQueue<>(1).poll(n, u));
        past("offer", (n, u) -> full.offer(2, n, u));
        past("deque", (n, u) -> new LinkedBlockingDeque<>().pollLast(n, u));
        past("priority", (n, u) -> new PriorityBlockingQueue<>().poll(n, u));
        past("delay", (n, u) -> new DelayQueue<Delayed>().poll(n, u));
        past("synchronous", (n, u) -> new SynchronousQueue<>().poll(n, u));
        past("task", (n, u) -> new FutureTask<>(() -> 1).get(n, u));
        past("completable", (n, u) -> new CompletableFuture<>().get(n, u));
        past("phaser", (n, u) -> new Phaser(1).awaitAdvanceInterruptibly(0, n, u));
        past("barrier", (n, u) -> new CyclicBarrier(2).await(n, u));
        past("latch", (n, u) -> new CountDownLatch(1).await(n, u));
        past("semaphore", (n, u) -> new Semaphore(0).tryAcquire(n, u));
        past("lock", (n, u) -> held.tryLock(n, u));
        past("read", (n, u) -> written.readLock().tryLock(n, u));
        past("terminate", pool::awaitTermination);
        past("condition", (n, u) -> {
            ReentrantLock lock = new ReentrantLock();
            Condition c = lock.newCondition();
            lock.lock();
            return c.await(n, u) + "/" + (c.awaitNanos(u.toNanos(n)) <= 0) + "/" + c.awaitUntil(new Date(n));
        });
        past("park", (n, u) -> {
            LockSupport.parkNanos(n);
            LockSupport.parkUntil(n);
            u.sleep(n);
            return "back";
        });
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
        past("schedule", (n, u) -> timer.schedule(() -> 1, n, u).get());

        future("sleep", (n, u) -> {
            Thread.sleep(n, 999_999);
            return "back";
        });
        future("unit", (n, u) -> {
            u.sleep(n);
            return "back";
        });
        future("join", (n, u) -> {
            Thread.currentThread().join(n, 999_999);
            return "back";
        });
        future("poll", (n, u) -> new LinkedBlockingQueue<>().poll(n, u));
        future("get", (n, u) -> new FutureTask<>(() -> 1).get(n, u));
        future("latch", (n, u) -> new CountDownLatch(1).await(n, u));
        future("until", (n, u) -> {
            ReentrantLock lock = new ReentrantLock();
            lock.lock();
            return lock.newCondition().awaitUntil(new Date(Long.MAX_VALUE));
        });
        timer.schedule(() -> System.out.println("too soon"), Long.MAX_VALUE, TimeUnit.DAYS);
        AtomicInteger runs = new AtomicInteger();
        timer.scheduleAtFixedRate(runs::incrementAndGet, 0, Long.MAX_VALUE, TimeUnit.DAYS);
        timer.scheduleWithFixedDelay(runs::incrementAndGet, 0, Long.MAX_VALUE, TimeUnit.DAYS);
        while (runs.get() < 2) {
            Thread.sleep(1);
        }
        // Long enough to see one that comes again.
        Thread.sleep(100);
        System.out.println("runs " + runs);
        timer.shutdownNow();
        open.countDown();
        pool.shutdown();

        Thread ended = new Thread(() -> {});
        ended.start();
        ended.join();
        Thread.currentThread().interrupt();
        ended.join();
        ended.join(10);
        System.out.println("joined " + Thread.interrupted());
        ended.setDaemon(true);
        System.out.println("daemon " + ended.isDaemon());
    }
}
