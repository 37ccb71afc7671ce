package lamprey.piranha;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/** Who is next among those that wait. The first two make the crawl roughly breadth first and depth first. */
public enum Order {
    /** Whoever waits longest. */
    FIFO,
    /** Whoever came last. */
    LIFO,
    /** Any of them, all equally likely. */
    RANDOM;

    /** The order of this name. */
    static Order parse(String text) {
        for (Order o : values()) {
            if (o.name().equalsIgnoreCase(text)) {
                return o;
            }
        }
        throw new IllegalArgumentException("no such policy: " + text + "; there are fifo, lifo and random");
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** An empty queue with this order. Not synchronised. */
    <T> Line<T> line() {
        return this == RANDOM ? new Shuffled<T>() : new Ends<T>(this == LIFO);
    }

    /** Those that wait. */
    interface Line<T> {
        void add(T t);

        /** Takes out who is next; null if nobody waits. */
        T next();

        /** Takes out {@code t}. Returns false if it is not there. */
        boolean remove(T t);
    }

    private static final class Ends<T> implements Line<T> {
        private final ArrayDeque<T> waiting = new ArrayDeque<>();
        private final boolean last;

        Ends(boolean last) {
            this.last = last;
        }

        @Override
        public void add(T t) {
            waiting.addLast(t);
        }

        @Override
        public T next() {
            return last ? waiting.pollLast() : waiting.pollFirst();
        }

        @Override
        public boolean remove(T t) {
            return waiting.remove(t);
        }
    }

    private static final class Shuffled<T> implements Line<T> {
        private final List<T> waiting = new ArrayList<>();
        private final Random random = new Random(1);

        @Override
        public void add(T t) {
            waiting.add(t);
        }

        @Override
        public T next() {
            if (waiting.isEmpty()) {
                return null;
            }
            int i = random.nextInt(waiting.size());
            T last = waiting.remove(waiting.size() - 1);
            return i == waiting.size() ? last : waiting.set(i, last);
        }

        @Override
        public boolean remove(T t) {
            return waiting.remove(t);
        }
    }
}
