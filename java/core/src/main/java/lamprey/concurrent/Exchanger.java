package lamprey.concurrent;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import lamprey.Blocker;
import lamprey.Parking;
import lamprey.PicoThread;
import lamprey.WaitReason;

/**
 * A {@link java.util.concurrent.Exchanger} that suspends light threads and parks kernel threads. The methods do what those of the JDK do.
 *
 * <p>{@link #first}, under the monitor of this object, is the thread that waits for a second one. Who takes it out exchanges with it: from then on neither can
 * give up.
 */
public class Exchanger<V> extends java.util.concurrent.Exchanger<V> {
    private First first;

    /** One. */
    public Exchanger() {}

    /** Joins when its thread has been suspended: a thread that cannot be gives nothing away. */
    private final class First extends Blocker {
        final Object value;
        /** Under the monitor of the exchanger: it has met another, and is delivered what that brings. */
        private boolean met;
        /** Under the monitor: it has given up. */
        private boolean gone;

        First(Object value) {
            this.value = value;
        }

        @Override
        protected void suspended() {
            First other;
            synchronized (Exchanger.this) {
                if (gone) {
                    return;
                }
                other = take();
                if (other == null) {
                    first = this;
                    return;
                }
                met = true;
            }
            other.deliver(value);
            deliver(other.value);
        }

        @Override
        protected boolean withdraw(Cause cause) {
            synchronized (Exchanger.this) {
                if (met) {
                    return false;
                }
                gone = true;
                if (first == this) {
                    first = null;
                }
                return true;
            }
        }

        @Override
        protected WaitReason reason() {
            return WaitReason.CHANNEL;
        }
    }

    /** Under the monitor: the one that waits, which has then met the caller; null if none does. */
    private First take() {
        First f = first;
        first = null;
        if (f != null) {
            f.met = true;
        }
        return f;
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
        if (PicoThread.interrupted()) {
            throw new InterruptedException();
        }
        First other;
        synchronized (this) {
            other = take();
        }
        if (other != null) {
            other.deliver(v);
            return (V) other.value;
        }
        Object result = Parking.await(new First(v), nanos);
        if (result == Blocker.Cause.TIMEOUT) {
            throw new TimeoutException();
        }
        return (V) result;
    }
}
