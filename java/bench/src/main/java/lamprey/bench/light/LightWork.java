package lamprey.bench.light;

import java.util.concurrent.atomic.AtomicInteger;
import lamprey.Parking;
import lamprey.PicoThread;

/** What the threads of the benchmarks do; {@link lamprey.bench.plain.PlainWork} with light threads. Transformed. */
public final class LightWork {
    private LightWork() {}

    /** Starts {@code threads} threads that yield {@code yields} times each, {@code depth} calls deep, and waits for them. */
    public static Runnable yields(int threads, int yields, int depth) {
        return () -> {
            PicoThread[] all = new PicoThread[threads];
            for (int i = 0; i < threads; i++) {
                long seed = i;
                all[i] = new PicoThread(() -> descend(depth, yields, seed, "x"));
                all[i].start();
            }
            join(all);
        };
    }

    private static void join(PicoThread[] all) {
        try {
            for (PicoThread t : all) {
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
            PicoThread.yield();
        }
        return seed;
    }

    /** Starts {@code threads} threads, a hundred at a time, each of which counts itself, and waits until all have. */
    public static Runnable spawns(int threads) {
        return () -> {
            AtomicInteger ended = new AtomicInteger();
            Runnable body = ended::incrementAndGet;
            for (int i = 1; i <= threads; i++) {
                new PicoThread(body).start();
                if (i % 100 == 0 || i == threads) {
                    while (ended.get() < i) {
                        PicoThread.yield();
                    }
                }
            }
        };
    }

    /** Starts threads that wait for ever, {@code depth} calls deep, puts them in {@code held}, and ends when all wait. */
    public static Runnable blocked(Object[] held, int depth) {
        return () -> {
            int threads = held.length;
            AtomicInteger begun = new AtomicInteger();
            for (int i = 0; i < threads; i++) {
                long seed = i;
                PicoThread t = new PicoThread(() -> waitDeep(depth, seed, begun));
                held[i] = t;
                t.setDaemon(true);
                t.start();
            }
            while (begun.get() < threads) {
                PicoThread.yield();
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
            Parking.park();
        }
    }

    /** Fibonacci numbers the slow way. Yields where {@code n} is {@code yieldAt}, 0 or 1; nowhere if that is negative. */
    public static int fib(int n, int yieldAt) {
        if (n < 2) {
            if (n == yieldAt) {
                PicoThread.yield();
            }
            return n;
        }
        return fib(n - 1, yieldAt) + fib(n - 2, yieldAt);
    }

    /** Computes {@code fib(n)} and puts it in {@code result}, {@code times} times; yields on the way if {@code yields}. */
    public static Runnable fib(int n, int times, boolean yields, int[] result) {
        return () -> {
            for (int i = 0; i < times; i++) {
                result[0] = fib(n, yields ? i & 1 : -1);
            }
        };
    }
}
