package lamprey.concurrent;

import java.util.Collection;
import java.util.concurrent.TimeUnit;
import lamprey.channel.Channel;

/**
 * A {@link java.util.concurrent.SynchronousQueue} that suspends light threads and parks kernel threads: a rendezvous {@link Channel}. Threads that wait are
 * served in order, whether it is fair or not.
 */
public class SynchronousQueue<E> extends java.util.concurrent.SynchronousQueue<E> {
    private static final long serialVersionUID = 1;
    private final transient Channel<E> channel = new Channel<>();

    /** One. */
    public SynchronousQueue() {}

    /** One; it is fair in both cases. */
    public SynchronousQueue(boolean fair) {
        super(fair);
    }

    private static <E> E checked(E e) {
        if (e == null) {
            throw new NullPointerException("a queue takes no null");
        }
        return e;
    }

    @Override
    public void put(E e) throws InterruptedException {
        channel.send(checked(e));
    }

    @Override
    public boolean offer(E e, long time, TimeUnit unit) throws InterruptedException {
        return channel.send(checked(e), time, unit);
    }

    @Override
    public boolean offer(E e) {
        return channel.trySend(checked(e));
    }

    @Override
    public E take() throws InterruptedException {
        return channel.recv();
    }

    @Override
    public E poll(long time, TimeUnit unit) throws InterruptedException {
        return channel.recv(time, unit);
    }

    @Override
    public E poll() {
        return channel.tryRecv();
    }

    @Override
    public int drainTo(Collection<? super E> c) {
        return drainTo(c, Integer.MAX_VALUE);
    }

    @Override
    public int drainTo(Collection<? super E> c, int max) {
        if (c == this) {
            throw new IllegalArgumentException("a queue cannot be drained to itself");
        }
        int n = 0;
        for (E e; n < max && (e = poll()) != null; n++) {
            c.add(e);
        }
        return n;
    }
}
