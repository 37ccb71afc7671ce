package lamprey.concurrent;

import java.io.Serializable;
import lamprey.Blocker;
import lamprey.Parking;
import lamprey.WaitReason;
import lamprey.instrument.Sites;

/**
 * Threads that wait for a change of something, first in first out. What it is, and how it is protected, is the user's matter:
 * <pre>
 * while (!attempt()) {                  // and who makes a change, calls signal() after it
 *     Ticket t = list.enter();
 *     if (attempt()) { list.leave(t); break; }
 *     list.await(t, nanos);
 * }
 * </pre>
 *
 * <p><b>No wake is lost.</b> A thread enters the list before its second attempt, and a change is made before {@link #signal} looks at the list: one of the
 * two sees the other ({@link #head} is volatile; entering is a write, signalling a read). A thread that was signalled and does not need it ({@link #leave}), or
 * cannot use it (it could not be suspended), passes it on.
 *
 * <p><b>Who may touch what.</b> The links, under the monitor of this object. A ticket is delivered once, by who has taken it out.
 */
class WaitList implements Serializable {
    private static final long serialVersionUID = 1;

    private transient volatile Ticket head;
    private transient Ticket tail;
    private final WaitReason reason;

    WaitList(WaitReason reason) {
        this.reason = reason;
        Sites.made(this);
    }

    /** One wait of one thread. */
    static final class Ticket extends Blocker {
        private final WaitList list;
        private Ticket next;
        /** The ticket itself when it has been taken out. */
        private Ticket previous;

        Ticket(WaitList list) {
            this.list = list;
        }

        @Override
        protected WaitReason reason() {
            return list.reason;
        }

        @Override
        protected String detail() {
            String made = Sites.text("", list);
            return made.isEmpty() ? null : made;
        }

        @Override
        protected void abandoned() {
            list.remove(this);
            list.lost();
        }

        @Override
        protected void refused(Object value) {
            list.signal();
            list.lost();
        }
    }

    /** A thread was to wait here and could not be suspended; its ticket is out. For a user that has something else to undo. Must not block. */
    void lost() {}

    /** Puts the calling thread at the end. Must be followed by {@link #leave} or {@link #await}. */
    Ticket enter() {
        Ticket t = new Ticket(this);
        synchronized (this) {
            if (tail == null) {
                head = t;
            } else {
                tail.next = t;
                t.previous = tail;
            }
            tail = t;
        }
        return t;
    }

    /** The thread does not wait after all. */
    void leave(Ticket t) {
        if (!remove(t)) {
            signal();
        }
    }

    /**
     * Waits for a signal, for {@code nanos} at most ({@link Long#MAX_VALUE}: without limit). Blocks.
     *
     * @return false if the time is up
     * @throws InterruptedException if interrupted before a signal; nothing of the caller is then left in the list
     */
    boolean await(Ticket t, long nanos) throws InterruptedException {
        try {
            if (Parking.await(t, nanos) != Blocker.Cause.TIMEOUT) {
                return true;
            }
        } catch (InterruptedException e) {
            remove(t);
            throw e;
        }
        remove(t);
        return false;
    }

    /** Wakes the thread that has waited longest, if any. Does not block. */
    void signal() {
        while (head != null) {
            Ticket t = take();
            if (t == null || t.deliver(null)) {
                return;
            }
        }
    }

    /** Wakes all. Does not block. */
    void signalAll() {
        for (Ticket t = head == null ? null : take(); t != null; t = take()) {
            t.deliver(null);
        }
    }

    /** Whether no thread waits. */
    boolean isEmpty() {
        return head == null;
    }

    private synchronized Ticket take() {
        Ticket t = head;
        if (t != null) {
            remove(t);
        }
        return t;
    }

    /** False if it has been taken out before, by a signal. */
    private synchronized boolean remove(Ticket t) {
        if (t.previous == t) {
            return false;
        }
        if (t.previous == null) {
            head = t.next;
        } else {
            t.previous.next = t.next;
        }
        if (t.next == null) {
            tail = t.previous;
        } else {
            t.next.previous = t.previous;
        }
        t.previous = t;
        t.next = null;
        return true;
    }
}
