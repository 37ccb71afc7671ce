package lamprey.concurrent;

import java.io.Serializable;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import lamprey.PicoRuntime;
import lamprey.PicoThread;
import lamprey.WaitReason;
import lamprey.concurrent.WaitList.Ticket;

/**
 * How a queue of this package blocks. The queue itself is the JDK's (its methods that do not block are inherited); this adds the lists of threads that wait for an
 * element and for a place, and the loops that wait. The queue calls {@link #added(BlockingSide)} after each insertion, and {@link #removed} after each removal.
 */
final class BlockingSide<E> implements Serializable {
    private static final long serialVersionUID = 1;

    /** The operations of the queue that do not block. */
    interface Of<E> {
        /** Takes an element; null if there is none. */
        E tryTake();

        /** Inserts; false if there is no place. */
        boolean tryPut(E e);

        /** How long until {@link #tryTake} may succeed although nothing is added, in nanoseconds; {@link Long#MAX_VALUE} if it cannot. */
        default long readyIn() {
            return Long.MAX_VALUE;
        }
    }

    private final WaitList elements = new WaitList(WaitReason.QUEUE);
    private final WaitList places = new WaitList(WaitReason.QUEUE);

    /** After an insertion; {@code side} is null while the queue is being deserialised. */
    static void added(BlockingSide<?> side) {
        if (side != null) {
            side.elements.signal();
        }
    }

    /** An iterator of the queue, whose removals make place. */
    Iterator<E> over(Iterator<E> i) {
        return new Iterator<E>() {
            @Override
            public boolean hasNext() {
                return i.hasNext();
            }

            @Override
            public E next() {
                return i.next();
            }

            @Override
            public void remove() {
                i.remove();
                removed();
            }
        };
    }

    void removed() {
        places.signal();
    }

    void allRemoved() {
        places.signalAll();
    }

    /** As {@link java.util.concurrent.BlockingQueue#take}. */
    E take(Of<E> q) throws InterruptedException {
        return poll(q, Long.MAX_VALUE);
    }

    /** As {@link java.util.concurrent.BlockingQueue#poll(long, TimeUnit)}; {@link Long#MAX_VALUE} nanoseconds is no limit. */
    E poll(Of<E> q, long nanos) throws InterruptedException {
        checkInterrupt();
        boolean timed = nanos != Long.MAX_VALUE;
        long deadline = timed ? PicoRuntime.moment(nanos) : 0;
        for (;;) {
            E e = q.tryTake();
            if (e != null) {
                removed();
                return e;
            }
            long left = timed ? deadline - PicoRuntime.nanoTime() : Long.MAX_VALUE;
            if (left <= 0) {
                return null;
            }
            Ticket t = elements.enter();
            e = q.tryTake();
            if (e != null) {
                elements.leave(t);
                removed();
                return e;
            }
            elements.await(t, Math.min(left, q.readyIn()));
        }
    }

    /** As {@link java.util.concurrent.BlockingQueue#put}. */
    void put(Of<E> q, E e) throws InterruptedException {
        offer(q, e, Long.MAX_VALUE);
    }

    /** As {@link java.util.concurrent.BlockingQueue#offer(Object, long, TimeUnit)}. */
    boolean offer(Of<E> q, E e, long nanos) throws InterruptedException {
        checkInterrupt();
        boolean timed = nanos != Long.MAX_VALUE;
        long deadline = timed ? PicoRuntime.moment(nanos) : 0;
        for (;;) {
            if (q.tryPut(e)) {
                added(this);
                return true;
            }
            long left = timed ? deadline - PicoRuntime.nanoTime() : Long.MAX_VALUE;
            if (left <= 0) {
                return false;
            }
            Ticket t = places.enter();
            if (q.tryPut(e)) {
                places.leave(t);
                added(this);
                return true;
            }
            places.await(t, left);
        }
    }

    private static void checkInterrupt() throws InterruptedException {
        if (PicoThread.interrupted()) {
            throw new InterruptedException();
        }
    }
}
