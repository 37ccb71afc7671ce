package lamprey.channel;

import lamprey.event.Choice;
import lamprey.event.Event;
import lamprey.event.Offer;
import lamprey.event.Port;
import lamprey.event.Waiters;

/**
 * A value that changes, and readers that wait for changes. A reader that is slow sees the last value only. For light threads and kernel threads.
 *
 * <p><b>Invariant</b> (under the monitor of this object): an offer that can be chosen belongs to a reader that has seen the current version.
 */
public final class Watch<T> implements AutoCloseable {
    private final Waiters waiters = new Waiters(this);
    private T value;
    private long version;
    private boolean closed;

    /** With a first value. */
    public Watch(T value) {
        this.value = value;
    }

    /** The current value. Does not block. */
    public T get() {
        synchronized (this) {
            return value;
        }
    }

    /**
     * Changes the value. Does not block.
     *
     * @throws ClosedException if it is closed
     */
    public void set(T newValue) {
        synchronized (this) {
            if (closed) {
                throw Closed.CHANNEL.exception();
            }
            value = newValue;
            version++;
            for (Offer o = waiters.choose(newValue); o != null; o = waiters.choose(newValue)) {
                ((Changed<?>) o.value()).reader.seen = version;
            }
        }
    }

    /** A reader that has seen the current value. */
    public Reader<T> reader() {
        synchronized (this) {
            return new Reader<>(this, version);
        }
    }

    /** The value does not change any more: readers that have seen it get a {@link ClosedException}. Does not block. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            waiters.completeAll(Closed.CHANNEL);
        }
    }

    /** One reader's view. */
    public static final class Reader<T> {
        private final Watch<T> watch;
        private final Changed<T> changed = new Changed<>(this);
        private long seen;

        Reader(Watch<T> watch, long seen) {
            this.watch = watch;
            this.seen = seen;
        }

        /**
         * The current value, when this reader has not seen it. Blocks until then.
         *
         * @throws ClosedException if it has seen the last value
         * @throws InterruptedException if interrupted while this waits
         */
        public T changed() throws InterruptedException {
            return changed.sync();
        }

        /** The event of {@link #changed}. */
        public Event<T> changedEvt() {
            return changed;
        }

        /** The current value, which counts as seen. Does not block. */
        public T get() {
            synchronized (watch) {
                seen = watch.version;
                return watch.value;
            }
        }
    }

    private static final class Changed<T> extends Port<T> {
        final Reader<T> reader;

        Changed(Reader<T> reader) {
            this.reader = reader;
        }

        @Override
        protected Waiters queue() {
            return reader.watch.waiters;
        }

        @Override
        protected Object poll(Choice self) {
            Watch<T> watch = reader.watch;
            if (reader.seen == watch.version) {
                return watch.closed ? Closed.CHANNEL : NO;
            }
            reader.seen = watch.version;
            return watch.value;
        }

        /** The reader has not seen it. If another thread waits at the same reader, that one sees it. */
        @Override
        protected boolean giveBack(Object result) {
            Watch<T> watch = reader.watch;
            if (result != Closed.CHANNEL) {
                synchronized (watch) {
                    if (watch.waiters.chooseOf(this, watch.value) == null) {
                        reader.seen = -1;
                    }
                }
            }
            return true;
        }
    }
}
