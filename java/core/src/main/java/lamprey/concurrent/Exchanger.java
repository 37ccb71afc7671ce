package lamprey.concurrent;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import lamprey.Blocker;
import lamprey.Parking;
import lamprey.WaitReason;

/**
 * A {@link java.util.concurrent.Exchanger} that suspends light threads and parks kernel threads. The methods do what those of the JDK do.
 *
 * <p>{@link #first}, under the monitor of this object, is the thread that waits for a second one. Delivering the second's value to it is the exchange.
 */
public class Exchanger<V> extends java.util.concurrent.Exchanger<V> {
    private First first;

    /** One. */
    public Exchanger() {}

    private static final class First extends Blocker {
        final Object value;

        First(Object value) {
            this.value = value;
        }

        @Override
        protected WaitReason reason() {
            return WaitReason.CHANNEL;
        }
    }

    @Override
    public V exchange(V v) throws InterruptedException {
        try {
            return exchange(v, Long.MAX_VALUE);
        } catch (TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public V exchange(V v, long time, TimeUnit unit) throws InterruptedException, TimeoutException {
        return exchange(v, unit.toNanos(time));
    }

    @SuppressWarnings("unchecked")
    private V exchange(V v, long nanos) throws InterruptedException, TimeoutException {
        First own;
        synchronized (this) {
            First other = first;
            first = null;
            if (other != null && other.deliver(v)) {
                return (V) other.value;
            }
            own = new First(v);
            first = own;
        }
        Object result = Parking.await(own, nanos);
        if (result == Blocker.Cause.TIMEOUT) {
            // A second one that comes finds that it cannot deliver, and waits in turn.
            throw new TimeoutException();
        }
        return (V) result;
    }
}
