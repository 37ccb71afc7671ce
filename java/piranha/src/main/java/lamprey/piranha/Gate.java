package lamprey.piranha;

/**
 * Lets a limited number of threads in at once. A thread that leaves hands its place to the one that is next in the {@link Order}.
 *
 * <p>Invariant: while a thread waits, no place is free.
 */
final class Gate {
    private int free;
    private final Order.Line<Place> waiting;

    /** What one thread waits for. Guarded by its own lock; taken after the gate's is released, so that only one thread is woken. */
    private static final class Place {
        private boolean given;

        synchronized void give() {
            given = true;
            notify();
        }

        synchronized void await() throws InterruptedException {
            while (!given) {
                wait();
            }
        }
    }

    Gate(int places, Order order) {
        free = places;
        waiting = order.line();
    }

    /** Waits for a place. An interrupt ends the wait without one. */
    void enter() throws InterruptedException {
        Place place;
        synchronized (this) {
            if (free > 0) {
                free--;
                return;
            }
            place = new Place();
            waiting.add(place);
        }
        try {
            place.await();
        } catch (InterruptedException e) {
            if (!withdraw(place)) {
                leave();
            }
            throw e;
        }
    }

    /** Gives a place back. Does not block for longer than others hold the lock. */
    void leave() {
        Place next;
        synchronized (this) {
            next = waiting.next();
            if (next == null) {
                free++;
                return;
            }
        }
        next.give();
    }

    /** False if the place has been given. */
    private synchronized boolean withdraw(Place place) {
        return waiting.remove(place);
    }
}
