package lamprey.event;

import java.util.Objects;
import lamprey.PicoThread;
import lamprey.channel.IVar;
import lamprey.instrument.Suspendable;

/**
 * An event that is begun by one call and consumed by another (asynchronous events of Concurrent ML). {@link #aSync} does not wait for the communication: a
 * thread of its own does. It returns what is known at the call, and an event that happens when the communication, and the functions of {@link #aWrap}, are done.
 *
 * <p>As any event, it does nothing until it is begun, and may be begun any number of times. Two that the same thread begins are two threads: they may happen in
 * either order. For a fixed order begin the second in the {@link #aWrap} of the first.
 *
 * @param <C> the creation value: what {@link #aSync} returns at once
 * @param <T> the result
 */
public final class AsyncEvent<C, T> {
    private final Creation<C> create;
    private final Event<T> event;

    AsyncEvent(Creation<C> create, Event<T> event) {
        this.create = create;
        this.event = event;
    }

    /** Makes the creation value. */
    interface Creation<C> {
        @Suspendable
        C make() throws InterruptedException;
    }

    /** What {@link #aSync} returns. */
    public static final class Begun<C, T> {
        private final C created;
        private final PicoThread thread;
        private final IVar<T> result;

        Begun(C created, PicoThread thread, IVar<T> result) {
            this.created = created;
            this.thread = thread;
            this.result = result;
        }

        /** The creation value. */
        public C created() {
            return created;
        }

        /** Happens when the result is there, and stays so. If there is none, synchronising throws {@link IllegalStateException}, with the cause. */
        public Event<T> result() {
            return result.getEvt();
        }

        /** Takes the communication back if it has not happened; {@link #result} then throws. Does not block. */
        public void cancel() {
            thread.interrupt();
        }
    }

    /** With {@code f} applied to the creation value, by the thread that begins it, in {@link #aSync}. */
    public <D> AsyncEvent<D, T> sWrap(Event.Function<? super C, ? extends D> f) {
        Objects.requireNonNull(f);
        return new AsyncEvent<>(() -> f.apply(create.make()), event);
    }

    /** With {@code f} applied to the result, after the communication, by the thread that waits for it. {@code f} may block. */
    public <R> AsyncEvent<C, R> aWrap(Event.Function<? super T, ? extends R> f) {
        return new AsyncEvent<>(create, event.wrap(f));
    }

    /**
     * Begins it. Does not wait for it; blocks if a function of {@link #sWrap} does. The creation value is made first: if that fails, nothing has begun.
     *
     * @throws InterruptedException if a function of {@link #sWrap} throws it
     */
    public Begun<C, T> aSync() throws InterruptedException {
        C created = create.make();
        IVar<T> result = new IVar<>();
        PicoThread t = new PicoThread(new Waiting<>(event, result));
        t.setDaemon(true);
        t.start();
        return new Begun<>(created, t, result);
    }

    private static final class Waiting<T> implements Runnable {
        private final Event<T> event;
        private final IVar<T> result;

        Waiting(Event<T> event, IVar<T> result) {
            this.event = event;
            this.result = result;
        }

        @Override
        public void run() {
            try {
                result.put(event.sync());
            } catch (Throwable t) {
                result.tryFail(() -> new IllegalStateException("an asynchronous event has failed: " + t, t));
            }
        }
    }
}
