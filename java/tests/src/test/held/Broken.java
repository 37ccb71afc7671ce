import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.locks.ReentrantLock;

/** Programs that come to a stop: each is reported, and ends. */
public class Broken {
    static void take(BlockingQueue<String> from, BlockingQueue<String> to) {
        try {
            to.put(from.take());
        } catch (InterruptedException e) {
            System.out.println(e);
        }
    }

    static Thread named(String name, Runnable body) {
        Thread t = new Thread(body, name);
        t.start();
        return t;
    }

    /** Each waits for a message of the one before it. */
    static void ring() throws InterruptedException {
        List<BlockingQueue<String>> queues = Arrays.asList(new SynchronousQueue<>(), new SynchronousQueue<>(), new SynchronousQueue<>());
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            BlockingQueue<String> from = queues.get(i);
            BlockingQueue<String> to = queues.get((i + 1) % 3);
            threads.add(named("link " + i, () -> take(from, to)));
        }
        threads.get(0).join();
    }

    static void both(Object one, Object other, CountDownLatch met) {
        synchronized (one) {
            met.countDown();
            try {
                met.await();
            } catch (InterruptedException e) {
                System.out.println(e);
            }
            synchronized (other) {
                System.out.println("both");
            }
        }
    }

    /** Two locks in two orders. */
    static void monitors() {
        Object a = new Object();
        Object b = new Object();
        CountDownLatch met = new CountDownLatch(2);
        named("there", () -> both(a, b, met));
        named("back", () -> both(b, a, met));
    }

    static void bothLocks(ReentrantLock one, ReentrantLock other, CountDownLatch met) {
        one.lock();
        try {
            met.countDown();
            met.await();
            other.lock();
            other.unlock();
        } catch (InterruptedException e) {
            System.out.println(e);
        } finally {
            one.unlock();
        }
    }

    static void locks() {
        ReentrantLock a = new ReentrantLock();
        ReentrantLock b = new ReentrantLock();
        CountDownLatch met = new CountDownLatch(2);
        named("there", () -> bothLocks(a, b, met));
        named("back", () -> bothLocks(b, a, met));
    }

    /** Nobody is left who could send. */
    static void lost() throws InterruptedException {
        BlockingQueue<String> jobs = new LinkedBlockingQueue<>();
        named("sender", () -> jobs.add("last"));
        for (;;) {
            System.out.println(jobs.take());
        }
    }

    /** A thousand that wait alike. */
    static void many() throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        for (int i = 0; i < 1000; i++) {
            new Thread(() -> {
                try {
                    never.await();
                } catch (InterruptedException e) {
                    System.out.println(e);
                }
            }).start();
        }
        never.await();
    }

    /** A pool of one thread, whose task waits for another task of it. */
    static void pool() throws Exception {
        java.util.concurrent.ExecutorService one = Executors.newFixedThreadPool(1);
        System.out.println(one.submit(() -> one.submit(() -> "inner").get()).get());
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "ring": ring(); break;
            case "monitors": monitors(); break;
            case "locks": locks(); break;
            case "lost": lost(); break;
            case "many": many(); break;
            default: pool(); break;
        }
    }
}
