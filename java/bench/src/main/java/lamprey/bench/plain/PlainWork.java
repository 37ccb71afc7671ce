package lamprey.bench.plain;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** What the threads of the benchmarks do. {@link lamprey.bench.light.LightWork} is the same with light threads. */
public final class PlainWork {
    private PlainWork() {}

    /** Starts {@code threads} threads that yield {@code yields} times each, {@code depth} calls deep, and waits for them. */
    public static Runnable yields(Kind kind, int threads, int yields, int depth) {
        return () -> {
            Thread[] all = new Thread[threads];
            for (int i = 0; i < threads; i++) {
                long seed = i;
                all[i] = kind.unstarted(() -> descend(depth, yields, seed, "x"));
                all[i].start();
            }
            join(all);
        };
    }

    private static void join(Thread[] all) {
        try {
            for (Thread t : all) {
                t.join();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static long descend(int depth, int yields, long seed, Object o) {
        if (depth > 1) {
            long below = descend(depth - 1, yields, seed + 1, o);
            return o == null ? below : below + seed;
        }
        for (int i = 0; i < yields; i++) {
            Thread.yield();
        }
        return seed;
    }

    /** Starts {@code threads} threads, a hundred at a time, each of which counts itself, and waits until all have. */
    public static Runnable spawns(Kind kind, int threads) {
        return () -> {
            AtomicInteger ended = new AtomicInteger();
            Runnable body = ended::incrementAndGet;
            for (int i = 1; i <= threads; i++) {
                kind.unstarted(body).start();
                if (i % 100 == 0 || i == threads) {
                    while (ended.get() < i) {
                        Thread.yield();
                    }
                }
            }
        };
    }

    /** Starts threads that wait for ever, {@code depth} calls deep, puts them in {@code held}, and ends when all wait. */
    public static Runnable blocked(Kind kind, Object[] held, int depth) {
        return () -> {
            int threads = held.length;
            AtomicInteger begun = new AtomicInteger();
            for (int i = 0; i < threads; i++) {
                long seed = i;
                Thread t = kind.unstarted(() -> waitDeep(depth, seed, begun));
                held[i] = t;
                t.setDaemon(true);
                t.start();
            }
            while (begun.get() < threads) {
                Thread.yield();
            }
        };
    }

    private static long waitDeep(int depth, long seed, AtomicInteger begun) {
        if (depth > 1) {
            long below = waitDeep(depth - 1, seed + 1, begun);
            return begun == null ? below : below + seed;
        }
        begun.incrementAndGet();
        while (true) {
            LockSupport.park();
        }
    }

    /** Fibonacci numbers the slow way. Yields where {@code n} is {@code yieldAt}, 0 or 1; nowhere if that is negative. */
    public static int fib(int n, int yieldAt) {
        if (n < 2) {
            if (n == yieldAt) {
                Thread.yield();
            }
            return n;
        }
        return fib(n - 1, yieldAt) + fib(n - 2, yieldAt);
    }
}
