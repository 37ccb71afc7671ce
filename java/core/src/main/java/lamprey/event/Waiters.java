package lamprey.event;

import lamprey.instrument.Sites;

/**
 * A queue of offers, first in first out. Any of them can be taken out in constant time.
 *
 * <p><b>Who may touch what.</b> Every method, and the links of the offers, only under {@link #lock}. Several queues may share one lock. The lock is a
 * monitor of the JVM and is never held while a thread blocks.
 */
public final class Waiters {
    final Object lock;
    private Offer head;
    private Offer tail;

    /** An empty queue that is protected by the monitor of {@code lock}. */
    public Waiters(Object lock) {
        this.lock = lock;
        Sites.made(this);
    }

    /** The offer that has waited longest; null if there is none. */
    public Offer first() {
        return head;
    }

    /** Whether nobody waits. */
    public boolean isEmpty() {
        return head == null;
    }

    void add(Offer o) {
        o.prev = tail;
        o.next = null;
        if (tail == null) {
            head = o;
        } else {
            tail.next = o;
        }
        tail = o;
    }

    /** Takes an offer out; does nothing if it has been taken out before. */
    public void remove(Offer o) {
        if (o.prev == o) {
            return;
        }
        if (o.prev == null) {
            head = o.next;
        } else {
            o.prev.next = o.next;
        }
        if (o.next == null) {
            tail = o.prev;
        } else {
            o.next.prev = o.prev;
        }
        o.prev = o;
        o.next = null;
    }

    /**
     * Takes out the first offer that can be chosen, and completes it.
     *
     * @param self the choice of the caller, whose own offers are passed over; may be null
     * @return that {@link Offer}; {@link Port#BUSY} if some are busy and no other can be chosen; else {@link Port#NO}
     */
    public Object poll(Choice self, Object result) {
        Object none = Port.NO;
        for (Offer o = head; o != null; ) {
            Offer next = o.next;
            if (!o.isOf(self)) {
                int answer = o.tryComplete(result);
                if (answer == Offer.BUSY) {
                    none = Port.BUSY;
                } else {
                    remove(o);
                    if (answer == Offer.COMPLETED) {
                        return o;
                    }
                }
            }
            o = next;
        }
        return none;
    }

    /**
     * Takes out the first offer that can still be chosen, and completes it; waits for those that are claimed. Only where the caller's own choice is decided
     * or is not published: see {@link Choice}.
     *
     * @return that offer; null if nobody waits
     */
    public Offer choose(Object result) {
        return first(null, result);
    }

    /** As {@link #choose}, of those that bring {@code payload}, which is not null. */
    public Offer chooseOf(Object payload, Object result) {
        return first(payload, result);
    }

    private Offer first(Object payload, Object result) {
        int spins = 0;
        for (Offer o = head; o != null; ) {
            Offer next = o.next;
            if (payload == null || o.value == payload) {
                int answer = o.tryComplete(result);
                if (answer == Offer.BUSY) {
                    Backoff.pause(spins++);
                    continue;
                }
                remove(o);
                if (answer == Offer.COMPLETED) {
                    return o;
                }
            }
            o = next;
        }
        return null;
    }

    /** Completes everybody who waits with the same result. The same restriction as for {@link #choose}. */
    public void completeAll(Object result) {
        while (choose(result) != null) {
            // The next one.
        }
    }
}
