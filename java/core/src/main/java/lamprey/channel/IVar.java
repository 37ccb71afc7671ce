package lamprey.channel;

import lamprey.event.Choice;
import lamprey.event.Event;
import lamprey.event.Port;
import lamprey.event.Waiters;

/**
 * A variable that is assigned at most once, and can then be read for ever. {@link #get} waits for the assignment. For light threads and kernel threads.
 */
public final class IVar<T> {
    private final Waiters readers = new Waiters(this);
    private final Get<T> get = new Get<>(this);
    /** {@link Port#NO} before the assignment. */
    private Object value = Port.NO;

    /** An unassigned one. */
    public IVar() {}

    /**
     * Assigns it. Does not block.
     *
     * @throws IllegalStateException if it has been assigned or closed
     */
    public void put(T value) {
        if (!tryPut(value)) {
            throw new IllegalStateException("an IVar has been assigned or closed before");
        }
    }

    /** Assigns it; false if it has been assigned or closed before. Does not block. */
    public boolean tryPut(T value) {
        return set(value);
    }

    /** Gives it up: if it is not assigned, readers get a {@link ClosedException}. Does not block. */
    public void close() {
        set(Closed.IVAR);
    }

    /** Makes every read throw an exception that {@code failure} makes; false if it has been assigned or closed before. Does not block. */
    public boolean tryFail(Port.Failure failure) {
        return set(failure);
    }

    /** Its value. Blocks until it is assigned; throws {@link InterruptedException} if interrupted while it waits. */
    public T get() throws InterruptedException {
        return get.sync();
    }

    /** The event of {@link #get}. */
    public Event<T> getEvt() {
        return get;
    }

    /** Whether it has been assigned or closed. */
    public boolean isDone() {
        synchronized (this) {
            return value != Port.NO;
        }
    }

    private boolean set(Object v) {
        synchronized (this) {
            if (value != Port.NO) {
                return false;
            }
            value = v;
            readers.completeAll(v);
            return true;
        }
    }

    private static final class Get<T> extends Port<T> {
        private final IVar<T> var;

        Get(IVar<T> var) {
            this.var = var;
        }

        @Override
        protected Waiters queue() {
            return var.readers;
        }

        @Override
        protected Object poll(Choice self) {
            return var.value;
        }
    }
}
