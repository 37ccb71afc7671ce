package lamprey.event;

import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import lamprey.PicoRuntime;
import lamprey.instrument.Suspendable;

/**
 * The description of something a thread can wait for, such as a send or a receive. It does nothing until a thread synchronises on it ({@link #sync}),
 * and may be synchronised on any number of times, by any thread. Of the events in a choice exactly one happens; the others have no effect.
 *
 * <p>These are the events of Concurrent ML (Reppy).
 *
 * @param <T> the result
 */
public abstract class Event<T> {
    Event() {}

    /** A function that may block. */
    public interface Function<A, R> {
        /** The result for {@code a}. */
        @Suspendable
        R apply(A a) throws InterruptedException;
    }

    /** Makes an event. May block. */
    public interface Maker<T> {
        /** The event to synchronise on. */
        @Suspendable
        Event<T> make() throws InterruptedException;
    }

    /** Makes an event, which may use that it was not chosen. May block. */
    public interface NackMaker<T> {
        /** The event to synchronise on; {@code nack} happens if that is not chosen. */
        @Suspendable
        Event<T> make(Event<Void> nack) throws InterruptedException;
    }

    /** Adds the branches of this event to a synchronisation. */
    abstract void flatten(Sync s, Step path) throws InterruptedException;

    /**
     * Waits until this event happens. Blocks the calling thread, light or not. What is possible at once is done without a look at the interrupt status.
     *
     * @throws InterruptedException if the thread is interrupted while it waits; the event has then not happened; of a {@link #chooseAll}, what some members
     *     have received goes back to where it came from, and what some have sent stays sent
     * @throws lamprey.instrument.PinnedError if the thread would have to wait and cannot be suspended; the same holds, and a send may have happened
     */
    public final T sync() throws InterruptedException {
        if (this instanceof Port) {
            return ((Port<T>) this).syncAlone();
        }
        return Port.result(new Sync().run(this));
    }

    /** This event, with {@code f} applied to its result, in the thread that synchronises, after the decision. {@code f} may block. */
    @SuppressWarnings("unchecked")
    public final <R> Event<R> wrap(Function<? super T, ? extends R> f) {
        return new Events.Wrapped<R>(this, (Function<Object, Object>) (Function<?, ?>) Objects.requireNonNull(f));
    }

    /** This event as an asynchronous one: {@link AsyncEvent#aSync} begins it, and does not wait. */
    public final AsyncEvent<Void, T> async() {
        return new AsyncEvent<>(() -> null, this);
    }

    /** One of the events: of those that can happen at once, any; else the first that happens. Of no events: {@link #never}. */
    @SafeVarargs
    public static <T> Event<T> choose(Event<? extends T>... events) {
        return new Events.Choose<>(events.clone(), true);
    }

    /** As {@link #choose(Event...)}. */
    public static <T> Event<T> choose(Collection<? extends Event<? extends T>> events) {
        return new Events.Choose<>(events.toArray(new Event<?>[0]), true);
    }

    /** One of the events: of those that can happen at once, the first in this order. */
    @SafeVarargs
    public static <T> Event<T> prefer(Event<? extends T>... events) {
        return new Events.Choose<>(events.clone(), false);
    }

    /**
     * All the events; the result has their results in the order of the arguments. In a choice, it is chosen when one of them happens, and the others are
     * waited for from then on, with all offers out at once. Functions given to {@link #wrap} run after all have happened. If one of them fails, as its channel is closed, say, what
     * the others have received goes back.
     */
    @SafeVarargs
    public static <T> Event<List<T>> chooseAll(Event<? extends T>... events) {
        return new Events.All<>(events.clone());
    }

    /** The event that {@code maker} makes, once for each synchronisation. */
    public static <T> Event<T> guard(Maker<T> maker) {
        return new Events.Guard<>(Objects.requireNonNull(maker));
    }

    /** The event that {@code maker} makes, once for each synchronisation; the maker's argument happens if and only if that is not chosen. */
    public static <T> Event<T> withNack(NackMaker<T> maker) {
        return new Events.WithNack<>(Objects.requireNonNull(maker));
    }

    /** Happens at once. */
    public static <T> Event<T> always(T value) {
        return new Events.Always<>(value);
    }

    /** Does not happen. */
    public static <T> Event<T> never() {
        return new Events.Choose<>(new Event<?>[0], false);
    }

    /** Happens when the time has passed, counted from the synchronisation. */
    public static Event<Void> timeout(long time, TimeUnit unit) {
        return new Events.Timeout(unit.toNanos(time), false);
    }

    /** As {@link #timeout(long, TimeUnit)}. */
    public static Event<Void> timeoutMillis(long millis) {
        return timeout(millis, TimeUnit.MILLISECONDS);
    }

    /** Happens at this instant of {@code System.nanoTime()} (in a simulation, of its clock). */
    public static Event<Void> at(long nanoTime) {
        return new Events.Timeout(nanoTime, true);
    }

    /** The current instant, as {@link #at} understands it. */
    public static long now() {
        return PicoRuntime.nanoTime();
    }
}
