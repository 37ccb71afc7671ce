package lamprey.channel;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import lamprey.Parking;
import lamprey.event.AsyncEvent;
import lamprey.event.Backoff;
import lamprey.event.Choice;
import lamprey.event.Event;
import lamprey.event.Offer;
import lamprey.event.Port;
import lamprey.event.Single;
import lamprey.event.Waiters;

/**
 * Carries values from threads that send to threads that receive, in order. A rendezvous channel ({@code new Channel<>()}) has no buffer: a send ends when
 * another thread receives. {@link #bounded} has a buffer of some places, and {@link #mailbox} one without limit. Null is a value like any other.
 *
 * <p>Every operation may be used by light threads and kernel threads. A blocked thread is given its value by its partner, and does not compete for it again.
 *
 * <p><b>Invariants</b> (under the lock, which is this object's monitor): an offer that can be chosen waits in {@code receivers} only if the buffer is empty, and in
 * {@code senders} only if it is full. After {@link #close} nothing waits.
 *
 * @param <T> of the values
 */
public final class Channel<T> implements AutoCloseable {
    private final Waiters senders = new Waiters(this);
    private final Waiters receivers = new Waiters(this);
    private final int capacity;
    /** Null until the first value is put there. Nulls are kept as {@link #NULL}. */
    private ArrayDeque<Object> buffer;
    private boolean closed;
    private final Receive<T> receive = new Receive<>(this);

    private static final Object NULL = new Object();

    /** A rendezvous channel. */
    public Channel() {
        this(0);
    }

    private Channel(int capacity) {
        this.capacity = capacity;
    }

    /**
     * A channel with a buffer of this many places.
     *
     * @throws IllegalArgumentException if {@code capacity} is negative
     */
    public static <T> Channel<T> bounded(int capacity) {
        if (capacity < 0) {
            throw new IllegalArgumentException("the capacity of a channel is " + capacity + "; it must be 0 (rendezvous) or more");
        }
        return new Channel<>(capacity);
    }

    /** A channel whose sends never block. */
    public static <T> Channel<T> mailbox() {
        return new Channel<>(Integer.MAX_VALUE);
    }

    /**
     * Sends. Blocks until there is a place in the buffer or, without a buffer, a receiver.
     *
     * @throws ClosedException if the channel is closed, or is closed while this waits; the value was not received
     * @throws InterruptedException if interrupted while this waits; the value was not received
     * @throws lamprey.instrument.PinnedError if this has to wait and the thread cannot be suspended; a receiver that came meanwhile has received the value
     */
    public void send(T value) throws InterruptedException {
        Single waiting = sendOrWait(value);
        if (waiting != null) {
            try {
                Port.result(Parking.await(waiting));
            } catch (InterruptedException e) {
                waiting.leave(senders);
                throw e;
            }
        }
    }

    /** As {@link #send(Object)}, for at most this time. False if the value was not received. */
    public boolean send(T value, long time, TimeUnit unit) throws InterruptedException {
        Single waiting = sendOrWait(value);
        if (waiting == null) {
            return true;
        }
        Object result = waiting.await(senders, unit.toNanos(time));
        if (result == Port.NO) {
            return false;
        }
        Port.result(result);
        return true;
    }

    /**
     * Receives. Blocks until there is a value.
     *
     * @throws ClosedException if the channel is closed and empty
     * @throws InterruptedException if interrupted while this waits; nothing was received
     */
    public T recv() throws InterruptedException {
        Object v = receiveOrWait();
        if (!(v instanceof Single)) {
            return Port.result(v);
        }
        Single waiting = (Single) v;
        try {
            return Port.result(Parking.await(waiting));
        } catch (InterruptedException e) {
            waiting.leave(receivers);
            throw e;
        }
    }

    /** As {@link #recv()}, for at most this time; null if there was no value. */
    public T recv(long time, TimeUnit unit) throws InterruptedException {
        Object v = receiveOrWait();
        if (v instanceof Single) {
            v = ((Single) v).await(receivers, unit.toNanos(time));
        }
        return v == Port.NO ? null : Port.result(v);
    }

    /** Sends if that is possible at once. Does not block. */
    public boolean trySend(T value) {
        return new Send<>(this, value).attemptNow();
    }

    /** Receives if that is possible at once; null if not. Does not block. */
    public T tryRecv() {
        return receive.attemptNow();
    }

    /** The event of {@link #send(Object)}. */
    public Event<Void> sendEvt(T value) {
        return new Send<>(this, value);
    }

    /** The event of {@link #recv()}. */
    public Event<T> recvEvt() {
        return receive;
    }

    /** The asynchronous event of {@link #send(Object)}. */
    public AsyncEvent<Void, Void> aSendEvt(T value) {
        return sendEvt(value).async();
    }

    /** The asynchronous event of {@link #recv()}. */
    public AsyncEvent<Void, T> aRecvEvt() {
        return recvEvt().async();
    }

    /** No more values are sent: senders that wait get a {@link ClosedException}, receivers too when the buffer is empty. Does not block. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            senders.completeAll(Closed.CHANNEL);
            receivers.completeAll(Closed.CHANNEL);
        }
    }

    /** Whether it has been closed. */
    public boolean isClosed() {
        synchronized (this) {
            return closed;
        }
    }

    /** The number of values in the buffer. */
    public int size() {
        synchronized (this) {
            return count();
        }
    }

    /** Under the lock. */
    private int count() {
        return buffer == null ? 0 : buffer.size();
    }

    /** Null if the value was sent; else the offer, which is queued. */
    private Single sendOrWait(T value) {
        for (int spins = 0; ; spins++) {
            synchronized (this) {
                Object v = pollSend(null, value);
                if (v == Port.NO) {
                    return Single.enqueue(senders, value);
                }
                if (v != Port.BUSY) {
                    Port.result(v);
                    return null;
                }
            }
            Backoff.pause(spins);
        }
    }

    /** The value; or the offer, a {@link Single}, which is queued. */
    private Object receiveOrWait() {
        for (int spins = 0; ; spins++) {
            synchronized (this) {
                Object v = pollReceive(null);
                if (v == Port.NO) {
                    return Single.enqueue(receivers, receive);
                }
                if (v != Port.BUSY) {
                    refill();
                    return v;
                }
            }
            Backoff.pause(spins);
        }
    }

    /** Under the lock; see {@link Port#poll}. */
    private Object pollSend(Choice self, T value) {
        if (closed) {
            return Closed.CHANNEL;
        }
        Object receiver = receivers.poll(self, value);
        if (receiver != Port.NO) {
            return receiver == Port.BUSY ? receiver : null;
        }
        if (count() < capacity) {
            put(value);
            return null;
        }
        return Port.NO;
    }

    /** Under the lock; see {@link Port#poll}. */
    private Object pollReceive(Choice self) {
        if (count() > 0) {
            Object v = buffer.poll();
            return v == NULL ? null : v;
        }
        Object sender = senders.poll(self, null);
        if (sender instanceof Offer) {
            return ((Offer) sender).value();
        }
        if (sender == Port.BUSY) {
            return sender;
        }
        return closed ? Closed.CHANNEL : Port.NO;
    }

    /** Under the lock, after a value has been taken from the buffer: the sender that has waited longest puts its own there. */
    private void refill() {
        while (count() < capacity) {
            Offer o = senders.choose(null);
            if (o == null) {
                return;
            }
            put(o.value());
        }
    }

    private void put(Object value) {
        if (buffer == null) {
            buffer = new ArrayDeque<>();
        }
        buffer.add(value == null ? NULL : value);
    }

    private static final class Send<T> extends Port<Void> {
        private final Channel<T> channel;
        private final T value;

        Send(Channel<T> channel, T value) {
            this.channel = channel;
            this.value = value;
        }

        boolean attemptNow() {
            Object v = attempt();
            if (v == NO) {
                return false;
            }
            result(v);
            return true;
        }

        @Override
        protected Waiters queue() {
            return channel.senders;
        }

        @Override
        protected Object poll(Choice self) {
            return channel.pollSend(self, value);
        }

        @Override
        protected Object payload() {
            return value;
        }

        @Override
        protected boolean giveBack(Object result) {
            return result instanceof Failure;
        }
    }

    private static final class Receive<T> extends Port<T> {
        private final Channel<T> channel;

        Receive(Channel<T> channel) {
            this.channel = channel;
        }

        T attemptNow() {
            Object v = attempt();
            return v == NO ? null : result(v);
        }

        @Override
        protected Waiters queue() {
            return channel.receivers;
        }

        @Override
        protected Object poll(Choice self) {
            return channel.pollReceive(self);
        }

        @Override
        protected void settle() {
            channel.refill();
        }

        @Override
        protected boolean giveBack(Object result) {
            if (result instanceof Failure) {
                return true;
            }
            synchronized (channel) {
                if (channel.receivers.choose(result) == null) {
                    channel.put(result);
                    channel.buffer.addFirst(channel.buffer.removeLast());
                }
            }
            return true;
        }
    }
}
