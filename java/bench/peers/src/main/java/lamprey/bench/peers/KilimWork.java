package lamprey.bench.peers;

import java.util.concurrent.atomic.AtomicInteger;
import kilim.Pausable;
import kilim.PauseReason;
import kilim.Scheduler;
import kilim.Task;

/** The benchmarks' work as tasks of Kilim, on one kernel thread. Woven after compilation. */
public final class KilimWork {
    private static final Scheduler ONE = Scheduler.make(1);
    private static final PauseReason FOR_EVER = task -> true;

    private KilimWork() {}

    private static final class Main extends Task<Object> {
        private final Body body;

        Main(Body body) {
            this.body = body;
        }

        @Override
        public void execute() throws Pausable {
            body.run();
        }
    }

    /** What a task does. */
    abstract static class Body {
        abstract void run() throws Pausable;
    }

    private static Task<?> start(Body body) {
        Task<?> t = new Main(body);
        t.setScheduler(ONE);
        t.start();
        return t;
    }

    /** Starts tasks that yield, and waits for them. */
    public static void yields(int threads, int yields, int depth) {
        start(new Body() {
            @Override
            void run() throws Pausable {
                Task<?>[] all = new Task<?>[threads];
                for (int i = 0; i < threads; i++) {
                    all[i] = start(new Yields(yields, depth, i));
                }
                for (Task<?> t : all) {
                    t.join();
                }
            }
        }).joinb();
    }

    private static final class Yields extends Body {
        private final int yields;
        private final int depth;
        private final long seed;

        Yields(int yields, int depth, long seed) {
            this.yields = yields;
            this.depth = depth;
            this.seed = seed;
        }

        @Override
        void run() throws Pausable {
            descend(depth, yields, seed, "x");
        }
    }

    static long descend(int depth, int yields, long seed, Object o) throws Pausable {
        if (depth > 1) {
            long below = descend(depth - 1, yields, seed + 1, o);
            return o == null ? below : below + seed;
        }
        for (int i = 0; i < yields; i++) {
            Task.yield();
        }
        return seed;
    }

    private static final class Counted extends Body {
        private final AtomicInteger ended;

        Counted(AtomicInteger ended) {
            this.ended = ended;
        }

        @Override
        void run() throws Pausable {
            ended.incrementAndGet();
        }
    }

    /** Starts tasks that count themselves, a hundred at a time. */
    public static void spawns(int threads) {
        AtomicInteger ended = new AtomicInteger();
        start(new Body() {
            @Override
            void run() throws Pausable {
                for (int i = 1; i <= threads; i++) {
                    start(new Counted(ended));
                    if (i % 100 == 0 || i == threads) {
                        while (ended.get() < i) {
                            Task.yield();
                        }
                    }
                }
            }
        }).joinb();
    }

    private static final class Blocked extends Body {
        private final int depth;
        private final long seed;
        private final AtomicInteger begun;

        Blocked(int depth, long seed, AtomicInteger begun) {
            this.depth = depth;
            this.seed = seed;
            this.begun = begun;
        }

        @Override
        void run() throws Pausable {
            waitDeep(depth, seed, begun);
        }
    }

    /** Starts tasks that wait for ever. */
    public static void blocked(Object[] held, int depth) {
        AtomicInteger begun = new AtomicInteger();
        for (int i = 0; i < held.length; i++) {
            held[i] = start(new Blocked(depth, i, begun));
        }
        while (begun.get() < held.length) {
            Thread.yield();
        }
    }

    static long waitDeep(int depth, long seed, AtomicInteger begun) throws Pausable {
        if (depth > 1) {
            long below = waitDeep(depth - 1, seed + 1, begun);
            return begun == null ? below : below + seed;
        }
        begun.incrementAndGet();
        Task.pause(FOR_EVER);
        return seed;
    }

    /** Every call is one of a pausable method. */
    public static int fibonacci(int n) {
        int[] result = new int[1];
        start(new Body() {
            @Override
            void run() throws Pausable {
                result[0] = fib(n);
            }
        }).joinb();
        return result[0];
    }

    static int fib(int n) throws Pausable {
        if (n < 2) {
            if (n < 0) {
                Task.yield();
            }
            return n;
        }
        return fib(n - 1) + fib(n - 2);
    }
}
