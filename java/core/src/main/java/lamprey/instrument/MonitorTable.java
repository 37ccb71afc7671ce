package lamprey.instrument;

import java.util.Collections;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import lamprey.Blocker;
import lamprey.PicoThread;
import lamprey.WaitReason;

/**
 * One part of the table of monitors: those of the objects whose identity hash falls into it. A hash table of its own, which grows and shrinks with the number of
 * entries: a million threads may each wait for an object of their own.
 *
 * <p><b>States of a monitor.</b> None: no entry. Owned: {@code owner} and how often it has entered. Not owned, but waited for: an entry without owner, because threads
 * are in {@code wait()}. Threads that want to enter are in a queue, only while it is owned; threads in {@code wait()} are in a set.
 *
 * <p><b>Who may touch what.</b> All of it under the part's spin lock, which is held for a few instructions, never while a thread blocks or other code runs.
 *
 * <p><b>Hand-over.</b> Who leaves a monitor makes the first of the queue its owner, then wakes it. So a light thread that enters, or comes back from {@code wait()}, is
 * suspended once, and the order is fair. A woken thread cannot find the monitor taken again. The price, that a thread which leaves and enters in a
 * loop waits for its turn each time, is a switch between light threads, not between kernel threads.
 *
 * <p><b>Suspension.</b> A thread joins the queue or the set, and releases the monitor in {@code wait()}, only after its frames have been saved
 * ({@link Blocker#suspended}). If that fails, nothing has happened, and it still owns what it owned.
 *
 * <p><b>The end of wait().</b> Whoever takes a thread out of the set (notify, interrupt, the time limit) puts it into the queue with the reason, or makes it the owner
 * if there is none. Only then is it completed. An interrupt after a notify stays set and changes nothing.
 *
 * <p><b>Rejected.</b> Barging (the woken thread competes): it may be suspended again each time. A lock in each object: there is no room in it. Weak
 * keys: not needed, as an entry exists only while a thread owns it or waits, which also holds the object.
 */
final class MonitorTable {
    private static final int PART_BITS = 10;
    private static final int PARTS = 1 << PART_BITS;
    /** Chains of a part that has few entries. A power of two, as it always is. */
    private static final int FEWEST = 4;
    private static final MonitorTable[] TABLE = new MonitorTable[PARTS];
    private static final AtomicIntegerFieldUpdater<MonitorTable> LOCKED = AtomicIntegerFieldUpdater.newUpdater(MonitorTable.class, "locked");

    static {
        for (int i = 0; i < PARTS; i++) {
            TABLE[i] = new MonitorTable();
        }
    }

    /** The spin lock: 1 while it is held. After an error it is released by an assignment, which takes no stack. */
    private volatile int locked;
    /** Used first: most parts have one entry at a time, which is found without the chains. Its object is null if it is not used. */
    private final Entry front = new Entry();
    private Entry[] chains = new Entry[FEWEST];
    /** In the chains; decides how many there are. */
    private int entries;
    /** Roughly how often {@link #lock} was called: not under the lock. */
    private int looks;
    /** One that is not used, to save the allocation. */
    private Entry spare;

    private static final class Entry {
        Object object;
        int hash;
        PicoThread owner;
        int entries;
        final List queue = new List();
        final List waiting = new List();
        Entry next;
    }

    /** Waiters in the order in which they came. */
    private static final class List {
        Waiter first;
        Waiter last;

        void add(Waiter w) {
            w.before = last;
            w.after = null;
            if (last == null) {
                first = w;
            } else {
                last.after = w;
            }
            last = w;
        }

        void remove(Waiter w) {
            if (w.before == null) {
                first = w.after;
            } else {
                w.before.after = w.after;
            }
            if (w.after == null) {
                last = w.before;
            } else {
                w.after.before = w.before;
            }
            w.before = null;
            w.after = null;
        }
    }

    /** A thread that waits to enter, or in {@code wait()}. */
    static class Waiter extends Blocker {
        private final Object object;
        private final int entries;
        /** Whether it is in {@code wait()} and not yet notified. */
        private boolean waits;
        private boolean inSet;
        /** How {@code wait()} ends; null for a notify. */
        private Cause cause;
        private Waiter before;
        private Waiter after;

        Waiter(PicoThread thread, Object object, int entries, boolean waits) {
            super(thread);
            this.object = object;
            this.entries = entries;
            this.waits = waits;
        }

        @Override
        protected void suspended() {
            MonitorTable.of(object).join(this);
        }

        @Override
        protected boolean withdraw(Cause why) {
            return why == Cause.PINNED || MonitorTable.of(object).withdraw(this, why);
        }

        private void complete() {
            if (cause == null) {
                deliver(null);
            } else {
                end(cause);
            }
        }

        @Override
        protected WaitReason reason() {
            return waits ? WaitReason.OBJECT_WAIT : WaitReason.MONITOR;
        }

        @Override
        protected String detail() {
            PicoThread owner = MonitorTable.of(object).owner(object);
            return object.getClass().getName() + "@" + Integer.toHexString(System.identityHashCode(object))
                + (owner == null ? "" : ", owned by " + owner.getName());
        }

        @Override
        protected java.util.List<PicoThread> holders() {
            PicoThread owner = waits ? null : MonitorTable.of(object).owner(object);
            return owner == null ? Collections.emptyList() : Collections.singletonList(owner);
        }
    }

    static MonitorTable of(Object o) {
        return of(hash(o));
    }

    private static int hash(Object o) {
        if (o == null) {
            throw new NullPointerException("the monitor of null");
        }
        return System.identityHashCode(o);
    }

    /** The parts share the lower bits of the hash. */
    private static MonitorTable of(int hash) {
        return TABLE[hash & PARTS - 1];
    }

    /** Also looks for the stack that is needed until the monitor is left: nothing overflows it under the lock, nor in {@link #exit}. */
    private void lock() {
        StackReserve.look(looks++);
        take();
    }

    private void take() {
        for (int i = 0; !LOCKED.compareAndSet(this, 0, 1); i++) {
            if (i > 50) {
                Thread.yield();
            }
        }
    }

    private void unlock() {
        LOCKED.lazySet(this, 0);
    }

    private static int index(int hash, Entry[] chains) {
        return hash >>> PART_BITS & chains.length - 1;
    }

    private Entry find(Object o) {
        return find(o, System.identityHashCode(o));
    }

    private Entry find(Object o, int hash) {
        return front.object == o ? front : entries == 0 ? null : findBehind(o, hash);
    }

    private Entry findBehind(Object o, int hash) {
        Entry[] table = chains;
        Entry e = table[index(hash, table)];
        while (e != null && e.object != o) {
            e = e.next;
        }
        return e;
    }

    private Entry create(Object o, int hash) {
        if (front.object == null) {
            front.object = o;
            return front;
        }
        Entry e = spare;
        if (e == null) {
            e = new Entry();
        } else {
            spare = null;
        }
        if (++entries > 2 * chains.length) {
            resize(2 * chains.length);
        }
        e.object = o;
        e.hash = hash;
        add(e, chains);
        return e;
    }

    private static void add(Entry e, Entry[] chains) {
        int i = index(e.hash, chains);
        e.next = chains[i];
        chains[i] = e;
    }

    private void remove(Entry e) {
        if (e == front) {
            e.object = null;
        } else {
            removeBehind(e);
        }
    }

    private void removeBehind(Entry e) {
        Entry[] table = chains;
        int i = index(e.hash, table);
        Entry p = table[i];
        if (p == e) {
            table[i] = e.next;
        } else {
            while (p.next != e) {
                p = p.next;
            }
            p.next = e.next;
        }
        e.object = null;
        e.next = null;
        spare = e;
        if (--entries < table.length >> 3 && table.length > FEWEST) {
            resize(table.length >> 1);
        }
    }

    private void resize(int length) {
        Entry[] to;
        try {
            to = new Entry[length];
        } catch (OutOfMemoryError e) {
            // Under the lock: the table goes on with the chains that it has.
            return;
        }
        for (Entry e : chains) {
            while (e != null) {
                Entry next = e.next;
                add(e, to);
                e = next;
            }
        }
        chains = to;
    }

    static boolean tryEnter(Object o, PicoThread me) {
        int hash = hash(o);
        MonitorTable part = of(hash);
        part.lock();
        try {
            boolean entered = part.enter(o, hash, me, 1);
            part.unlock();
            return entered;
        } catch (Throwable e) {
            // No memory for an entry, or no stack.
            part.locked = 0;
            throw e;
        }
    }

    private boolean enter(Object o, int hash, PicoThread me, int entries) {
        Entry e = find(o, hash);
        if (e == null) {
            e = create(o, hash);
        }
        if (e.owner == null) {
            e.owner = me;
            e.entries = entries;
            return true;
        }
        if (e.owner == me) {
            e.entries++;
            return true;
        }
        return false;
    }

    static void exit(Object o, PicoThread me) {
        int hash = hash(o);
        MonitorTable part = of(hash);
        part.take(); // there is stack, if it was entered
        Waiter next = null;
        try {
            Entry e = part.find(o, hash);
            if (e == null || e.owner != me) {
                throw notOwner();
            }
            if (e.entries == 1) {
                next = part.release(e);
            } else {
                e.entries--;
            }
            part.unlock();
        } catch (Throwable e) {
            part.locked = 0;
            throw e;
        }
        if (next != null) {
            next.complete();
        }
    }

    private static IllegalMonitorStateException notOwner() {
        return new IllegalMonitorStateException("current thread is not owner");
    }

    /** The owner leaves. Returns the next owner, to be woken after the lock is free. */
    private Waiter release(Entry e) {
        Waiter next = e.queue.first;
        if (next != null) {
            PicoThread owner = next.thread();
            e.queue.remove(next);
            e.owner = owner;
            e.entries = next.entries;
        } else {
            e.owner = null;
            if (e.waiting.first == null) {
                remove(e);
            }
        }
        return next;
    }

    /** How often {@code me} has entered. */
    int entries(Object o, PicoThread me) {
        lock();
        Entry e = find(o);
        int n = e == null || e.owner != me ? 0 : e.entries;
        unlock();
        if (n == 0) {
            throw notOwner();
        }
        return n;
    }

    PicoThread owner(Object o) {
        lock();
        Entry e = find(o);
        PicoThread owner = e == null ? null : e.owner;
        unlock();
        return owner;
    }

    /** The thread's frames have been saved. */
    private void join(Waiter w) {
        Waiter next = null;
        lock();
        if (w.waits) {
            if (!w.isDone()) {
                Entry e = find(w.object);
                e.waiting.add(w);
                w.inSet = true;
                next = release(e);
            }
        } else if (enter(w.object, System.identityHashCode(w.object), w.thread(), w.entries)) {
            next = w;
        } else {
            find(w.object).queue.add(w);
        }
        unlock();
        if (next != null) {
            next.complete();
        }
    }

    /** An interrupt or the time limit wants to end a wait. Returns false: the waiter is completed when it owns the monitor. */
    private boolean withdraw(Waiter w, Blocker.Cause why) {
        Waiter next = null;
        lock();
        if (w.inSet) {
            next = leaveSet(w, why) ? w : null;
        } else if (w.waits && w.cause == null) {
            // Its frames are not saved yet: it still owns the monitor.
            w.cause = why;
            w.complete();
        }
        unlock();
        if (next != null) {
            next.complete();
        }
        return false;
    }

    /** From the set to the queue. Returns whether it owns the monitor already. */
    private boolean leaveSet(Waiter w, Blocker.Cause why) {
        Entry e = find(w.object);
        e.waiting.remove(w);
        w.inSet = false;
        w.waits = false;
        w.cause = why;
        if (enter(w.object, System.identityHashCode(w.object), w.thread(), w.entries)) {
            return true;
        }
        e.queue.add(w);
        return false;
    }

    void wake(Object o, PicoThread me, int most) {
        lock();
        Entry e = find(o);
        boolean mine = e != null && e.owner == me;
        for (int i = 0; mine && i < most && e.waiting.first != null; i++) {
            leaveSet(e.waiting.first, null);
        }
        unlock();
        if (!mine) {
            throw notOwner();
        }
    }

    /** As if a thread owned the monitor for a moment and notified all. */
    static void wakeAll(Object o) {
        Waiter next = null;
        MonitorTable part = of(o);
        part.lock();
        Entry e = part.find(o);
        while (e != null && e.waiting.first != null) {
            Waiter w = e.waiting.first;
            if (part.leaveSet(w, null)) {
                next = w;
            }
        }
        part.unlock();
        if (next != null) {
            next.complete();
        }
    }

    static boolean ownsAny(PicoThread t) {
        boolean found = false;
        for (MonitorTable part : TABLE) {
            part.lock();
            found |= part.front.object != null && part.front.owner == t;
            for (Entry chain : part.chains) {
                for (Entry e = chain; e != null; e = e.next) {
                    found |= e.owner == t;
                }
            }
            part.unlock();
        }
        return found;
    }

    static int count() {
        int n = 0;
        for (MonitorTable part : TABLE) {
            part.lock();
            n += part.entries + (part.front.object == null ? 0 : 1);
            part.unlock();
        }
        return n;
    }
}
