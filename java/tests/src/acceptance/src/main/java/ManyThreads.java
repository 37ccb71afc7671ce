import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;

/** Plain Java with many threads that block at the same time, in each way a program blocks. Ends with an exception if a result is wrong. */
public class ManyThreads {
    private final int count;
    private final Object lock = new Object();
    private boolean open;
    private int waiting;
    private int passed;
    private volatile boolean failed;

    private ManyThreads(int count) {
        this.count = count;
    }

    private interface Task {
        void run(int number) throws InterruptedException;
    }

    private List<Thread> start(Task task) {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int number = i;
            Thread t = new Thread(() -> {
                try {
                    task.run(number);
                } catch (InterruptedException e) {
                    failed = true;
                }
            }, "thread " + i);
            t.start();
            threads.add(t);
        }
        return threads;
    }

    private void join(List<Thread> threads, String what) throws InterruptedException {
        for (Thread t : threads) {
            t.join();
        }
        if (failed) {
            throw new IllegalStateException(what + ": a thread was interrupted");
        }
        System.out.println(what + ": " + count + " threads");
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException(what);
        }
    }

    /** All wait at a latch, sleep, and hand a number to the one who adds. */
    private void latchSleepQueue() throws InterruptedException {
        CountDownLatch ready = new CountDownLatch(count);
        CountDownLatch go = new CountDownLatch(1);
        BlockingQueue<Integer> queue = new LinkedBlockingQueue<>(100);
        List<Thread> threads = start(number -> {
            ready.countDown();
            go.await();
            Thread.sleep(50);
            queue.put(number);
        });
        ready.await();
        go.countDown();
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum += queue.take();
        }
        join(threads, "latch, sleep, queue");
        check(sum == (long) count * (count - 1) / 2, "the sum is " + sum);
    }

    /** All wait for one object. */
    private void monitors() throws InterruptedException {
        List<Thread> threads = start(number -> {
            synchronized (lock) {
                waiting++;
                if (waiting == count) {
                    lock.notifyAll();
                }
                while (!open) {
                    lock.wait();
                }
                passed++;
            }
        });
        synchronized (lock) {
            while (waiting < count) {
                lock.wait();
            }
            check(passed == 0, "a thread passed too early");
            open = true;
            lock.notifyAll();
        }
        join(threads, "synchronized, wait, notifyAll");
        check(passed == count, "passed " + passed);
    }

    /** All sleep for an hour, and are interrupted. */
    private void interrupts() throws InterruptedException {
        CountDownLatch woken = new CountDownLatch(count);
        List<Thread> threads = start(number -> {
            try {
                Thread.sleep(3_600_000);
            } catch (InterruptedException e) {
                woken.countDown();
            }
        });
        for (Thread t : threads) {
            t.interrupt();
        }
        woken.await();
        join(threads, "sleep, interrupt");
    }

    public static void main(String[] args) throws InterruptedException {
        ManyThreads m = new ManyThreads(Integer.parseInt(args[0]));
        m.latchSleepQueue();
        m.monitors();
        m.interrupts();
        int kernelThreads = ManagementFactory.getThreadMXBean().getPeakThreadCount();
        check(kernelThreads < 200, kernelThreads + " kernel threads: these are not light");
        System.out.println("at most " + kernelThreads + " kernel threads");
    }
}
