package lamprey;

import java.util.Arrays;

/**
 * The timers of a runtime: a heap with four children a node, under a lock, as any carrier may end another's wait. A timer that is no longer needed is
 * taken out at once, so that a million limits that do not pass leave nothing behind.
 */
final class Timers {
    private static final int CHILDREN = 4;
    private static final int BATCH = 64;

    private Timer[] heap = new Timer[64];
    private int size;
    /** The earliest moment; MAX_VALUE for none. Read without the lock. */
    private volatile long earliest = Long.MAX_VALUE;

    long earliest() {
        return earliest;
    }

    synchronized int size() {
        return size;
    }

    /** Adds. Returns whether it is now the earliest. */
    synchronized boolean add(Timer t) {
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, size * 2);
        }
        up(size++, t);
        return update() && t.index == 0;
    }

    void cancel(Timer t) {
        // A timer that has fired may be seen as not fired yet: then the lock tells.
        if (t.index >= 0) {
            remove(t);
        }
    }

    private synchronized void remove(Timer t) {
        if (t.index >= 0) {
            take(t.index);
            update();
        }
    }

    /** Fires those whose moment has come. Returns how many. */
    int expire(long now) {
        int fired = 0;
        while (earliest <= now) {
            Timer[] due = new Timer[BATCH];
            int n = takeDue(now, due);
            for (int i = 0; i < n; i++) {
                due[i].fire();
            }
            fired += n;
        }
        return fired;
    }

    private synchronized int takeDue(long now, Timer[] due) {
        int n = 0;
        while (n < due.length && size > 0 && heap[0].when <= now) {
            due[n++] = heap[0];
            take(0);
        }
        update();
        return n;
    }

    /** Returns whether the earliest moment has changed. */
    private boolean update() {
        long first = size == 0 ? Long.MAX_VALUE : heap[0].when;
        if (first == earliest) {
            return false;
        }
        earliest = first;
        return true;
    }

    private void take(int i) {
        heap[i].index = -1;
        Timer last = heap[--size];
        heap[size] = null;
        if (i < size) {
            if (i > 0 && last.when < heap[(i - 1) / CHILDREN].when) {
                up(i, last);
            } else {
                down(i, last);
            }
        }
    }

    private void up(int from, Timer t) {
        int i = from;
        while (i > 0) {
            int parent = (i - 1) / CHILDREN;
            if (heap[parent].when <= t.when) {
                break;
            }
            put(i, heap[parent]);
            i = parent;
        }
        put(i, t);
    }

    private void down(int from, Timer t) {
        int i = from;
        for (;;) {
            int child = i * CHILDREN + 1;
            if (child >= size) {
                break;
            }
            int least = child;
            for (int c = child + 1; c < Math.min(child + CHILDREN, size); c++) {
                if (heap[c].when < heap[least].when) {
                    least = c;
                }
            }
            if (heap[least].when >= t.when) {
                break;
            }
            put(i, heap[least]);
            i = least;
        }
        put(i, t);
    }

    private void put(int i, Timer t) {
        heap[i] = t;
        t.index = i;
    }
}
