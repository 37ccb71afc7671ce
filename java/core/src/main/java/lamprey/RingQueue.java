package lamprey;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * FIFO for several carriers: a ring that its carrier fills at the tail, and from which its carrier and thieves take at the head. When it is full, half of it
 * goes to the runtime's {@link Inbox}.
 *
 * <p><b>Invariants.</b> {@code head <= tail <= head + SIZE} (modulo 2^32). Slots from head to tail hold threads.
 *
 * <p><b>Who may touch what.</b> {@link #tail} and the slots are written by the carrier only; {@link #head} moves only by compare-and-set. Whoever takes reads the
 * slots first, then moves head: if that succeeds, nobody has taken them, and the carrier has not reused the slots, as it reuses one only after head has passed it.
 *
 * <p><b>Orderings.</b> The slot is written before tail (volatile), read after it. The write of tail comes before the read of the number of idle
 * carriers, in the order of volatile accesses: see {@link Idlers}.
 *
 * <p><b>Rejected.</b> A Chase-Lev deque: its owner works LIFO, but threads that yield must take turns. An unbounded ring: a thief would have to cope with
 * its growth.
 */
final class RingQueue extends ReadyQueue {
    private static final int SIZE = 256;
    private static final int MASK = SIZE - 1;
    private static final AtomicIntegerFieldUpdater<RingQueue> HEAD = AtomicIntegerFieldUpdater.newUpdater(RingQueue.class, "head");

    private final PicoRuntime runtime;
    private final AtomicReferenceArray<PicoThread> slots = new AtomicReferenceArray<>(SIZE);
    private volatile int head;
    private volatile int tail;

    RingQueue(PicoRuntime runtime) {
        this.runtime = runtime;
    }

    @Override
    void ready(PicoThread t) {
        int end = tail;
        while (end - head >= SIZE) {
            spill(SIZE / 2);
        }
        slots.lazySet(end & MASK, t);
        tail = end + 1;
        runtime.idlers.workCame();
    }

    @Override
    void yielded(PicoThread t) {
        ready(t);
    }

    /** Moves the first {@code n} threads to the inbox. */
    private void spill(int n) {
        int first = head;
        PicoThread chain = null;
        PicoThread oldest = null;
        if (tail - first < n) {
            return;
        }
        PicoThread[] moved = new PicoThread[n];
        for (int i = 0; i < n; i++) {
            moved[i] = slots.get(first + i & MASK);
        }
        if (!HEAD.compareAndSet(this, first, first + n)) {
            return;
        }
        for (PicoThread t : moved) {
            t.next = chain;
            chain = t;
            oldest = oldest == null ? t : oldest;
        }
        runtime.inbox.add(chain, oldest);
    }

    @Override
    PicoThread next() {
        for (;;) {
            int first = head;
            if (first == tail) {
                return null;
            }
            PicoThread t = slots.get(first & MASK);
            if (HEAD.compareAndSet(this, first, first + 1)) {
                // Only this carrier fills slots, so none can have been filled again: forget the thread, for the collector.
                slots.lazySet(first & MASK, null);
                return t;
            }
        }
    }

    @Override
    int size() {
        return Math.max(tail - head, 0);
    }

    @Override
    int room() {
        return SIZE - size();
    }

    @Override
    PicoThread stealFor(ReadyQueue thief) {
        PicoThread[] taken = new PicoThread[SIZE / 2];
        for (;;) {
            int first = head;
            int available = tail - first;
            if (available <= 0) {
                return null;
            }
            int n = Math.min((available + 1) / 2, taken.length);
            for (int i = 0; i < n; i++) {
                taken[i] = slots.get(first + i & MASK);
            }
            if (HEAD.compareAndSet(this, first, first + n)) {
                for (int i = 1; i < n; i++) {
                    thief.ready(taken[i]);
                }
                return taken[0];
            }
        }
    }
}
