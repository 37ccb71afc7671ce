package lamprey.channel;

import java.util.concurrent.atomic.AtomicBoolean;
import lamprey.event.Event;

/** Carries one value, once. {@link #send} never blocks; {@link #recv} waits for it and takes it away. For light threads and kernel threads. */
public final class Oneshot<T> implements AutoCloseable {
    private final Channel<T> channel = Channel.bounded(1);
    private final AtomicBoolean sent = new AtomicBoolean();

    /** Without a value. */
    public Oneshot() {}

    /**
     * Sends the value. Does not block.
     *
     * @throws IllegalStateException if it has been sent before
     * @throws ClosedException if it has been closed
     */
    public void send(T value) {
        if (!sent.compareAndSet(false, true)) {
            throw new IllegalStateException("a value has been sent on this Oneshot before");
        }
        channel.trySend(value);
        channel.close();
    }

    /**
     * Takes the value. Blocks until it is there.
     *
     * @throws ClosedException if it was taken before, or closed without a value
     * @throws InterruptedException if interrupted while this waits
     */
    public T recv() throws InterruptedException {
        return channel.recv();
    }

    /** The event of {@link #recv}. */
    public Event<T> recvEvt() {
        return channel.recvEvt();
    }

    /** Gives up sending. Does not block. */
    @Override
    public void close() {
        channel.close();
    }
}
