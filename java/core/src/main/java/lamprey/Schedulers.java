package lamprey;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.function.Supplier;

/** The policies of the library. Each method makes one that makes an object for each carrier. */
public final class Schedulers {
    private Schedulers() {}

    /** In the order in which they became ready. */
    public static Supplier<Scheduler> fifo() {
        return Fifo::new;
    }

    /** The one that became ready last runs first; one that yields runs after all others. */
    public static Supplier<Scheduler> lifo() {
        return Lifo::new;
    }

    /** Any, with equal probability, by a generator that starts from {@code seed}: with one carrier, the same seed gives the same order. */
    public static Supplier<Scheduler> random(long seed) {
        return () -> new Uniform(seed);
    }

    /** The one with the greatest {@link PicoThread#getPriority()}; among equals, the one that became ready first. A ready thread of less priority waits. */
    public static Supplier<Scheduler> priority() {
        return Priority::new;
    }

    /** By its name: {@code fifo}, {@code lifo}, {@code random} or {@code priority}. */
    static Supplier<Scheduler> named(String name, long seed) {
        switch (name) {
            case "fifo":
                return fifo();
            case "lifo":
                return lifo();
            case "random":
                return random(seed);
            case "priority":
                return priority();
            default:
                throw new IllegalArgumentException("no scheduler is called \"" + name + "\"; there are fifo, lifo, random, priority");
        }
    }

    static final class Fifo implements Scheduler {
        private final ArrayDeque<PicoThread> threads = new ArrayDeque<>();

        @Override
        public void ready(PicoThread t) {
            threads.addLast(t);
        }

        @Override
        public PicoThread next() {
            return threads.pollFirst();
        }

        @Override
        public int size() {
            return threads.size();
        }
    }

    private static final class Lifo implements Scheduler {
        private final ArrayDeque<PicoThread> threads = new ArrayDeque<>();

        @Override
        public void ready(PicoThread t) {
            threads.addLast(t);
        }

        @Override
        public void yielded(PicoThread t) {
            threads.addFirst(t);
        }

        @Override
        public PicoThread next() {
            return threads.pollLast();
        }

        @Override
        public PicoThread steal() {
            return threads.pollFirst();
        }

        @Override
        public int size() {
            return threads.size();
        }
    }

    private static final class Uniform implements Scheduler {
        private PicoThread[] threads = new PicoThread[64];
        private int size;
        private long state;

        Uniform(long seed) {
            state = seed;
        }

        @Override
        public void ready(PicoThread t) {
            if (size == threads.length) {
                threads = Arrays.copyOf(threads, 2 * size);
            }
            threads[size++] = t;
        }

        @Override
        public PicoThread next() {
            if (size == 0) {
                return null;
            }
            int i = size == 1 ? 0 : below(size);
            PicoThread t = threads[i];
            threads[i] = threads[--size];
            threads[size] = null;
            return t;
        }

        /** SplitMix64: every seed is a good one. */
        private int below(int bound) {
            state += 0x9E3779B97F4A7C15L;
            long z = state;
            z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
            z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
            z ^= z >>> 31;
            return (int) ((z >>> 33) * bound >>> 31);
        }

        @Override
        public int size() {
            return size;
        }
    }

    private static final class Priority implements Scheduler {
        private final Fifo[] levels = new Fifo[Thread.MAX_PRIORITY + 1];
        private int size;

        Priority() {
            Arrays.setAll(levels, i -> new Fifo());
        }

        @Override
        public void ready(PicoThread t) {
            levels[t.getPriority()].ready(t);
            size++;
        }

        @Override
        public PicoThread next() {
            for (int i = levels.length - 1; size > 0 && i >= 0; i--) {
                PicoThread t = levels[i].next();
                if (t != null) {
                    size--;
                    return t;
                }
            }
            return null;
        }

        @Override
        public int size() {
            return size;
        }
    }
}
