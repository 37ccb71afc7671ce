package lamprey.tests.storm;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Many threads that block in every way at once. Each storm must end, and returns what must not depend on the order of events. */
public final class Storms {
    private Storms() {}

    /** One of them; leaves its result, or what it has thrown, in {@code result[0]}. */
    public static Runnable storm(String name, int a, int b, Object[] result) {
        return () -> {
            try {
                switch (name) {
                    case "monitors": result[0] = monitors(a, b); break;
                    case "parking": result[0] = parking(a, b); break;
                    case "interrupts": result[0] = interrupts(a, b); break;
                    default: result[0] = families(a, b);
                }
            } catch (Throwable e) {
                result[0] = e;
            }
        };
    }

    private static List<Thread> start(int n, java.util.function.IntFunction<Runnable> tasks) {
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            all.add(new Thread(tasks.apply(i)));
        }
        for (Thread t : all) {
            t.start();
        }
        return all;
    }

    private static void join(List<Thread> all) throws InterruptedException {
        for (Thread t : all) {
            t.join();
        }
    }

    /** Counters that are not atomic, each under its lock; waits with a short limit, interrupts from all sides. */
    public static String monitors(int threads, int rounds) throws InterruptedException {
        Object[] locks = {new Object(), new Object(), new Object()};
        int[] counters = new int[locks.length];
        AtomicInteger added = new AtomicInteger();
        AtomicInteger broken = new AtomicInteger();
        List<Thread> all = new ArrayList<>();
        List<Thread> started = start(threads, id -> () -> {
            Random random = new Random(id);
            for (int round = 0; round < rounds; round++) {
                int a = random.nextInt(locks.length);
                int b = a + random.nextInt(locks.length - a);
                try {
                    synchronized (locks[a]) {
                        synchronized (locks[b]) {
                            int seen = counters[a];
                            if (random.nextBoolean()) {
                                Thread.yield();
                            }
                            counters[a] = seen + 1;
                            added.incrementAndGet();
                            locks[b].notifyAll();
                        }
                        if (random.nextInt(4) == 0) {
                            locks[a].wait(1);
                        } else if (random.nextInt(8) == 0) {
                            Thread.sleep(0, 1000);
                        }
                        if (!Thread.holdsLock(locks[a])) {
                            broken.incrementAndGet();
                        }
                    }
                } catch (InterruptedException e) {
                    if (Thread.holdsLock(locks[a]) || Thread.holdsLock(locks[b])) {
                        broken.incrementAndGet();
                    }
                }
                synchronized (all) {
                    if (!all.isEmpty()) {
                        all.get(random.nextInt(all.size())).interrupt();
                    }
                }
            }
        });
        synchronized (all) {
            all.addAll(started);
        }
        join(started);
        int sum = 0;
        for (int c : counters) {
            sum += c;
        }
        return (sum == added.get()) + " " + (added.get() == threads * rounds) + " " + broken;
    }

    /** Pairs that hand a turn over by park and unpark. */
    public static String parking(int pairs, int rounds) throws InterruptedException {
        AtomicLong turns = new AtomicLong();
        List<Thread> all = new ArrayList<>();
        for (int p = 0; p < pairs; p++) {
            AtomicInteger turn = new AtomicInteger();
            Thread[] two = new Thread[2];
            for (int side = 0; side < 2; side++) {
                int me = side;
                two[me] = new Thread(() -> {
                    for (int i = 0; i < rounds; i++) {
                        while (turn.get() != me) {
                            if (i % 3 == 0) {
                                LockSupport.parkNanos(50_000);
                            } else {
                                LockSupport.park();
                            }
                        }
                        turns.incrementAndGet();
                        turn.set(1 - me);
                        LockSupport.unpark(two[1 - me]);
                    }
                });
                all.add(two[me]);
            }
            two[0].start();
            two[1].start();
        }
        join(all);
        return "" + turns;
    }

    /** Each interrupt is seen exactly once: the next is sent when the last has been answered. */
    public static String interrupts(int threads, int rounds) throws InterruptedException {
        AtomicInteger seen = new AtomicInteger();
        AtomicInteger stray = new AtomicInteger();
        List<Thread> all = start(threads, id -> () -> {
            AtomicInteger answers = new AtomicInteger();
            Thread me = Thread.currentThread();
            Object lock = new Object();
            Thread sender = new Thread(() -> {
                for (int i = 0; i < rounds; i++) {
                    me.interrupt();
                    while (answers.get() <= i) {
                        Thread.yield();
                    }
                }
            });
            sender.start();
            for (int i = 0; i < rounds; i++) {
                try {
                    switch ((i + id) % 4) {
                        case 0: Thread.sleep(100_000); break;
                        case 1:
                            synchronized (lock) {
                                lock.wait();
                            }
                            break;
                        case 2: new Thread(() -> { }).join(); sender.join(); break;
                        default:
                            while (!Thread.currentThread().isInterrupted()) {
                                LockSupport.park();
                            }
                            Thread.sleep(100_000);
                    }
                    stray.incrementAndGet();
                } catch (InterruptedException e) {
                    seen.incrementAndGet();
                    if (Thread.currentThread().isInterrupted()) {
                        stray.incrementAndGet();
                    }
                    answers.incrementAndGet();
                }
            }
        });
        join(all);
        return seen + " " + stray;
    }

    /** Threads that start threads, wait for them with and without a limit, and end by an exception now and then. */
    public static String families(int depth, int children) throws InterruptedException {
        AtomicInteger ended = new AtomicInteger();
        Thread root = new Thread(() -> family(depth, children, ended));
        root.start();
        root.join();
        return "" + ended;
    }

    private static void family(int depth, int children, AtomicInteger ended) {
        List<Thread> all = new ArrayList<>();
        for (int i = 0; depth > 0 && i < children; i++) {
            int n = i;
            Thread t = new Thread(() -> {
                family(depth - 1, children, ended);
                if (n == 1) {
                    throw new IllegalStateException("on purpose");
                }
            });
            t.setUncaughtExceptionHandler((thread, e) -> {
                Thread.yield();
                ended.addAndGet(1000);
            });
            all.add(t);
            t.start();
        }
        try {
            for (Thread t : all) {
                while (t.isAlive()) {
                    t.join(depth % 2 == 0 ? 1 : 0);
                }
            }
        } catch (InterruptedException e) {
            ended.addAndGet(1_000_000);
        }
        ended.incrementAndGet();
    }
}
