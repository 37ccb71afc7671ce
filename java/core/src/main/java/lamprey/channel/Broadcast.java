package lamprey.channel;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import lamprey.event.Choice;
import lamprey.event.Event;
import lamprey.event.Port;
import lamprey.event.Waiters;

/**
 * Sends each value to every subscriber. A send never blocks; the last {@code capacity} values are kept, and a subscriber that falls further behind is told
 * ({@link LaggedException}). For light threads and kernel threads.
 *
 * <p><b>Invariant</b> (under the monitor of this object): an offer that can be chosen waits only at a subscriber that has received everything.
 */
public final class Broadcast<T> implements AutoCloseable {
    private final Object[] ring;
    /** The number of values that have been sent; the next one goes to {@code sent % ring.length}. */
    private long sent;
    private boolean closed;
    private final List<Subscriber<T>> subscribers = new ArrayList<>();

    /**
     * One that keeps this many values.
     *
     * @throws IllegalArgumentException if that is not positive
     */
    public Broadcast(int capacity) {
        if (capacity <= 0) {
            throw new IllegalArgumentException("the capacity of a Broadcast is " + capacity + "; it must be at least 1");
        }
        ring = new Object[capacity];
    }

    /**
     * Sends to all. Does not block.
     *
     * @throws ClosedException if it is closed
     */
    public void send(T value) {
        synchronized (this) {
            if (closed) {
                throw Closed.CHANNEL.exception();
            }
            ring[(int) (sent++ % ring.length)] = value;
            for (Subscriber<T> s : subscribers) {
                if (s.waiters.choose(value) != null) {
                    s.next = sent;
                }
            }
        }
    }

    /** A receiver of all values that are sent from now on, until it is closed. */
    public Subscriber<T> subscribe() {
        synchronized (this) {
            Subscriber<T> s = new Subscriber<>(this, sent);
            subscribers.add(s);
            return s;
        }
    }

    /** No more values are sent. Subscribers get those that are left, then a {@link ClosedException}. Does not block. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            for (Subscriber<T> s : subscribers) {
                s.waiters.completeAll(Closed.CHANNEL);
            }
        }
    }

    /** Receives what is sent to a {@link Broadcast}. Threads that share a subscriber share the values. */
    public static final class Subscriber<T> implements AutoCloseable {
        private final Broadcast<T> from;
        private final Waiters waiters;
        private final Receive<T> receive = new Receive<>(this);
        /** The number of the value to be received next. */
        private long next;
        private boolean left;
        /** What was given back, to be received first; null if nothing ever was. Each in an array, as it may be null. */
        private ArrayDeque<Object[]> returned;

        Subscriber(Broadcast<T> from, long next) {
            this.from = from;
            this.next = next;
            waiters = new Waiters(from);
        }

        /**
         * The next value. Blocks until there is one.
         *
         * @throws LaggedException if values have been missed
         * @throws ClosedException if there is none left, and the sender or this is closed
         * @throws InterruptedException if interrupted while this waits
         */
        public T recv() throws InterruptedException {
            return receive.sync();
        }

        /** The event of {@link #recv}. */
        public Event<T> recvEvt() {
            return receive;
        }

        /** Leaves: nothing more is received. Does not block. */
        @Override
        public void close() {
            synchronized (from) {
                left = true;
                from.subscribers.remove(this);
                waiters.completeAll(Closed.CHANNEL);
            }
        }

        private Object poll() {
            if (left) {
                return Closed.CHANNEL;
            }
            if (returned != null && !returned.isEmpty()) {
                return returned.poll()[0];
            }
            long oldest = from.sent - from.ring.length;
            if (next < oldest) {
                long missed = oldest - next;
                next = oldest;
                return (Port.Failure) () -> new LaggedException(missed);
            }
            if (next < from.sent) {
                return from.ring[(int) (next++ % from.ring.length)];
            }
            return from.closed ? Closed.CHANNEL : Port.NO;
        }
    }

    private static final class Receive<T> extends Port<T> {
        private final Subscriber<T> subscriber;

        Receive(Subscriber<T> subscriber) {
            this.subscriber = subscriber;
        }

        @Override
        protected Waiters queue() {
            return subscriber.waiters;
        }

        @Override
        protected Object poll(Choice self) {
            return subscriber.poll();
        }

        @Override
        protected boolean giveBack(Object result) {
            if (result != Closed.CHANNEL) {
                synchronized (subscriber.from) {
                    if (subscriber.waiters.choose(result) == null) {
                        if (subscriber.returned == null) {
                            subscriber.returned = new ArrayDeque<>(1);
                        }
                        subscriber.returned.addFirst(new Object[] {result});
                    }
                }
            }
            return true;
        }
    }
}
