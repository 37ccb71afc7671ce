package lamprey.event;

import java.util.List;
import lamprey.PicoRuntime;

/** The combinators: how each kind of event becomes branches of a synchronisation. */
final class Events {
    private Events() {}

    static final class Wrapped<T> extends Event<T> {
        private final Event<?> inner;
        private final Event.Function<Object, Object> function;

        Wrapped(Event<?> inner, Event.Function<Object, Object> function) {
            this.inner = inner;
            this.function = function;
        }

        @Override
        void flatten(Sync s, Step path) throws InterruptedException {
            inner.flatten(s, new Step.Wrap(function, path));
        }
    }

    static final class Choose<T> extends Event<T> {
        private final Event<?>[] events;
        private final boolean fair;

        Choose(Event<?>[] events, boolean fair) {
            this.events = checked(events);
            this.fair = fair;
        }

        @Override
        void flatten(Sync s, Step path) throws InterruptedException {
            int n = events.length;
            int first = fair && n > 1 ? Fair.below(n) : 0;
            for (int i = 0; i < n; i++) {
                int at = first + i;
                events[at < n ? at : at - n].flatten(s, path);
            }
        }
    }

    static final class All<T> extends Event<List<T>> {
        private final Event<?>[] events;

        All(Event<?>[] events) {
            this.events = checked(events);
        }

        @Override
        void flatten(Sync s, Step path) throws InterruptedException {
            if (events.length == 0) {
                new Always<>(java.util.Collections.emptyList()).flatten(s, path);
                return;
            }
            Step.Group group = new Step.Group(events.length);
            for (int i = 0; i < events.length; i++) {
                events[i].flatten(s, new Step.Member(group, i, path));
            }
        }
    }

    static final class Guard<T> extends Event<T> {
        private final Event.Maker<T> maker;

        Guard(Event.Maker<T> maker) {
            this.maker = maker;
        }

        @Override
        void flatten(Sync s, Step path) throws InterruptedException {
            made(maker.make()).flatten(s, path);
        }
    }

    static final class WithNack<T> extends Event<T> {
        private final Event.NackMaker<T> maker;

        WithNack(Event.NackMaker<T> maker) {
            this.maker = maker;
        }

        @Override
        void flatten(Sync s, Step path) throws InterruptedException {
            Nack nack = s.newNack();
            made(maker.make(nack)).flatten(s, new Step.Inside(nack, path));
        }
    }

    static final class Always<T> extends Port<T> {
        private final T value;
        private final Waiters waiters = new Waiters(this);

        Always(T value) {
            this.value = value;
        }

        @Override
        protected Waiters queue() {
            return waiters;
        }

        @Override
        protected Object poll(Choice self) {
            return value;
        }
    }

    static final class Timeout extends Event<Void> {
        private final long nanos;
        private final boolean absolute;

        Timeout(long nanos, boolean absolute) {
            this.nanos = nanos;
            this.absolute = absolute;
        }

        @Override
        void flatten(Sync s, Step path) {
            // Deadlines are compared by their differences, which must stay below 2^63.
            s.add(new Branch(null, path, absolute ? nanos : PicoRuntime.moment(Math.min(nanos, Long.MAX_VALUE / 2))));
        }
    }

    private static Event<?>[] checked(Event<?>[] events) {
        for (int i = 0; i < events.length; i++) {
            if (events[i] == null) {
                throw new NullPointerException("event " + i + " of " + events.length + " is null");
            }
        }
        return events;
    }

    private static <T> Event<T> made(Event<T> event) {
        if (event == null) {
            throw new NullPointerException("the maker of an event returned null; Event.never() is an event that does not happen");
        }
        return event;
    }
}
