package lamprey;

import java.lang.ref.WeakReference;
import java.util.Arrays;

/**
 * The values of thread locals of one thread: an array of keys and values, searched from a place that the key gives. A key is the local's weak reference to itself, so a
 * thread that lives long does not keep locals that nobody can use any more; they are dropped when the array grows. Only the thread touches it.
 */
final class Locals {
    /** No value, not even null. */
    static final Object NONE = new Object();

    private Object[] table = new Object[8];
    private int used;

    /** A thread local's own reference, and what spreads keys over the array. */
    static final class Key extends WeakReference<ThreadLocal<?>> {
        private static final int GOLDEN = 0x9E3779B9;
        private static final java.util.concurrent.atomic.AtomicInteger NEXT = new java.util.concurrent.atomic.AtomicInteger();
        final int hash = NEXT.addAndGet(GOLDEN);
        final boolean inheritable;

        Key(ThreadLocal<?> local, boolean inheritable) {
            super(local);
            this.inheritable = inheritable;
        }
    }

    /** Index of the key, or minus one minus the index of a free place. */
    private int find(Key k) {
        int mask = table.length - 1;
        for (int i = (k.hash >>> 8) * 2 & mask;; i = i + 2 & mask) {
            if (table[i] == k) {
                return i;
            }
            if (table[i] == null) {
                return -1 - i;
            }
        }
    }

    /** The calling thread's value of {@code k}; {@link #NONE} if it has none. */
    static Object get(Key k) {
        Locals l = PicoThread.currentThread().locals;
        int i = l == null ? -1 : l.find(k);
        return i < 0 ? NONE : l.table[i + 1];
    }

    /** Sets the calling thread's value. */
    static void put(Key k, Object value) {
        PicoThread t = PicoThread.currentThread();
        if (t.locals == null) {
            t.locals = new Locals();
        }
        t.locals.set(k, value);
    }

    /** The calling thread has no value any more. */
    static void remove(Key k) {
        Locals l = PicoThread.currentThread().locals;
        if (l != null && l.find(k) >= 0) {
            l.rebuild(k);
        }
    }

    private void set(Key k, Object value) {
        int i = find(k);
        if (i < 0) {
            if ((used + 1) * 4 > table.length) {
                rebuild(null);
                i = find(k);
            }
            i = -1 - i;
            table[i] = k;
            used++;
        }
        table[i + 1] = value;
    }

    /** Without {@code gone} and those whose locals are no more; with room for one more. */
    private void rebuild(Key gone) {
        Object[] old = table;
        int kept = 0;
        for (int i = 0; i < old.length; i += 2) {
            if (old[i] != null && (old[i] == gone || ((Key) old[i]).get() == null)) {
                old[i] = null;
            } else if (old[i] != null) {
                kept++;
            }
        }
        int size = 8;
        while ((kept + 1) * 4 > size) {
            size *= 2;
        }
        table = new Object[size];
        used = 0;
        for (int i = 0; i < old.length; i += 2) {
            if (old[i] != null) {
                set((Key) old[i], old[i + 1]);
            }
        }
    }

    /** What a new thread inherits; null if nothing. */
    Locals inherited() {
        Locals copy = null;
        Object[] t = Arrays.copyOf(table, table.length);
        for (int i = 0; i < t.length; i += 2) {
            Key k = (Key) t[i];
            ThreadLocal<?> local = k == null || !k.inheritable ? null : k.get();
            if (local != null) {
                if (copy == null) {
                    copy = new Locals();
                }
                copy.set(k, ((PicoInheritableThreadLocal<?>) local).childOf(t[i + 1]));
            }
        }
        return copy;
    }
}
