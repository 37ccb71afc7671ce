package lamprey;

/** The ready threads of one carrier: the policy, and how other carriers get at them. Except for {@link #stealFor} and {@link #size}, only its carrier calls. */
abstract class ReadyQueue {
    /** Adds a thread. */
    abstract void ready(PicoThread t);

    /** Adds a thread that lets others go first. */
    abstract void yielded(PicoThread t);

    /** Removes the next; null if there is none. */
    abstract PicoThread next();

    /** How many there are: exact for its carrier, about so for others; never 0 to one that has been told of a thread. */
    abstract int size();

    /** How many more it takes well. */
    int room() {
        return Integer.MAX_VALUE;
    }

    /** Called by another carrier: moves some threads to {@code thief}, its own queue, which is empty, and returns one more of them; null if there is none. */
    abstract PicoThread stealFor(ReadyQueue thief);

    /** For a runtime with one carrier: nobody steals. */
    static final class Own extends ReadyQueue {
        private final Scheduler policy;

        Own(Scheduler policy) {
            this.policy = policy;
        }

        @Override
        void ready(PicoThread t) {
            policy.ready(t);
        }

        @Override
        void yielded(PicoThread t) {
            policy.yielded(t);
        }

        @Override
        PicoThread next() {
            return policy.next();
        }

        @Override
        int size() {
            return policy.size();
        }

        @Override
        PicoThread stealFor(ReadyQueue thief) {
            return null;
        }
    }

    /** Of a carrier that has been replaced (see {@link Crew}): what it makes ready goes where the others find it, and it gets nothing. */
    static final class Outside extends ReadyQueue {
        private final PicoRuntime runtime;

        Outside(PicoRuntime runtime) {
            this.runtime = runtime;
        }

        @Override
        void ready(PicoThread t) {
            runtime.readyFromOutside(t);
        }

        @Override
        void yielded(PicoThread t) {
            ready(t);
        }

        @Override
        PicoThread next() {
            return null;
        }

        @Override
        int size() {
            return 0;
        }

        @Override
        int room() {
            return 1;
        }

        @Override
        PicoThread stealFor(ReadyQueue thief) {
            return null;
        }
    }

    /** FIFO, for one carrier, with nothing between: a list through the threads themselves. */
    static final class OwnFifo extends ReadyQueue {
        private PicoThread first;
        private PicoThread last;
        private int size;

        @Override
        void ready(PicoThread t) {
            if (last == null) {
                first = t;
            } else {
                last.next = t;
            }
            last = t;
            size++;
        }

        @Override
        void yielded(PicoThread t) {
            ready(t);
        }

        @Override
        PicoThread next() {
            PicoThread t = first;
            if (t != null) {
                first = t.next;
                t.next = null;
                size--;
                if (first == null) {
                    last = null;
                }
            }
            return t;
        }

        @Override
        int size() {
            return size;
        }

        @Override
        PicoThread stealFor(ReadyQueue thief) {
            return null;
        }
    }

    /** Any policy, for several carriers: under a lock. The thieves get what {@link Scheduler#steal} gives, one at a time. */
    static final class Locked extends ReadyQueue {
        private final PicoRuntime runtime;
        private final Scheduler policy;
        private volatile int size;

        Locked(PicoRuntime runtime, Scheduler policy) {
            this.runtime = runtime;
            this.policy = policy;
        }

        @Override
        void ready(PicoThread t) {
            synchronized (this) {
                policy.ready(t);
                size = policy.size();
            }
            runtime.idlers.workCame();
        }

        @Override
        void yielded(PicoThread t) {
            synchronized (this) {
                policy.yielded(t);
                size = policy.size();
            }
            runtime.idlers.workCame();
        }

        @Override
        synchronized PicoThread next() {
            PicoThread t = policy.next();
            size = policy.size();
            return t;
        }

        @Override
        int size() {
            return size;
        }

        @Override
        synchronized PicoThread stealFor(ReadyQueue thief) {
            PicoThread t = size == 0 ? null : policy.steal();
            size = policy.size();
            return t;
        }
    }
}
