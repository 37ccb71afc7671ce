package lamprey.channel;

import java.util.ArrayDeque;
import lamprey.event.Choice;
import lamprey.event.Event;
import lamprey.event.Offer;
import lamprey.event.Port;
import lamprey.event.Waiters;

/**
 * A variable that is empty or full. {@link #take} waits until it is full and empties it, {@link #put} waits until it is empty and fills it, {@link #read} waits
 * until it is full and leaves it so. Every operation may be used by light threads and kernel threads; all throw {@link InterruptedException} if interrupted
 * while they wait, and have then not happened.
 *
 * <p><b>Invariants</b> (under the monitor of this object): no offer that can be chosen waits for what is the case. A thread that has changed the variable restores
 * this in {@code settle}, when its own choice is decided.
 */
public final class MVar<T> {
    private final Waiters takers = new Waiters(this);
    private final Waiters readers = new Waiters(this);
    private final Waiters putters = new Waiters(this);
    private boolean full;
    private T value;
    /** Values behind {@link #value}; null in a variable whose takers could all be suspended. */
    private ArrayDeque<Object[]> returned;

    /** An empty one. */
    public MVar() {}

    /** A full one. */
    public MVar(T value) {
        this.value = value;
        full = true;
    }

    /** Empties it. Blocks until it is full. */
    public T take() throws InterruptedException {
        return takeEvt().sync();
    }

    /** Fills it. Blocks until it is empty. */
    public void put(T value) throws InterruptedException {
        putEvt(value).sync();
    }

    /** Its value. Blocks until it is full. */
    public T read() throws InterruptedException {
        return readEvt().sync();
    }

    /** The event of {@link #take}. */
    public Event<T> takeEvt() {
        return new Take<>(this);
    }

    /** The event of {@link #put}. */
    public Event<Void> putEvt(T value) {
        return new Put<>(this, value);
    }

    /** The event of {@link #read}. */
    public Event<T> readEvt() {
        return new Read<>(this);
    }

    /** Under the lock, by a thread that has decided: serves whoever waits, until nobody can be served. */
    private void serve() {
        for (;;) {
            if (full) {
                readers.completeAll(value);
                if (takers.choose(value) == null) {
                    return;
                }
                empty();
            } else {
                Offer o = putters.choose(null);
                if (o == null) {
                    return;
                }
                fill(o.value());
            }
        }
    }

    private T empty() {
        T v = value;
        if (returned == null || returned.isEmpty()) {
            value = null;
            full = false;
        } else {
            fill(returned.poll()[0]);
        }
        return v;
    }

    /** A taker could not be suspended: its value becomes the next one again. */
    private void giveBack(T v) {
        synchronized (this) {
            if (full) {
                if (returned == null) {
                    returned = new ArrayDeque<>(1);
                }
                returned.addFirst(new Object[] {value});
            }
            fill(v);
            serve();
        }
    }

    @SuppressWarnings("unchecked")
    private void fill(Object v) {
        value = (T) v;
        full = true;
    }

    private abstract static class Operation<T, R> extends Port<R> {
        final MVar<T> var;

        Operation(MVar<T> var) {
            this.var = var;
        }

        @Override
        protected void settle() {
            var.serve();
        }
    }

    private static final class Take<T> extends Operation<T, T> {
        Take(MVar<T> var) {
            super(var);
        }

        @Override
        protected Waiters queue() {
            return var.takers;
        }

        @Override
        protected Object poll(Choice self) {
            return var.full ? var.empty() : NO;
        }

        @Override
        @SuppressWarnings("unchecked")
        protected boolean giveBack(Object result) {
            var.giveBack((T) result);
            return true;
        }
    }

    private static final class Read<T> extends Operation<T, T> {
        Read(MVar<T> var) {
            super(var);
        }

        @Override
        protected Waiters queue() {
            return var.readers;
        }

        @Override
        protected Object poll(Choice self) {
            return var.full ? var.value : NO;
        }
    }

    private static final class Put<T> extends Operation<T, Void> {
        private final T value;

        Put(MVar<T> var, T value) {
            super(var);
            this.value = value;
        }

        @Override
        protected Waiters queue() {
            return var.putters;
        }

        @Override
        protected Object poll(Choice self) {
            if (var.full) {
                return NO;
            }
            var.fill(value);
            return null;
        }

        @Override
        protected Object payload() {
            return value;
        }

        @Override
        protected boolean giveBack(Object result) {
            return false;
        }
    }
}
