package lamprey.net;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Tells which channels are ready: one selector for the process. There is no thread for it as long as light threads wait: a carrier that has nothing
 * to run waits in the selector ({@link Port#poll}), so that the threads it finds ready run on the same kernel thread, without a wake-up between.
 *
 * <p><b>States.</b> {@link #leader} is the {@link Port} whose kernel thread is in the selector, or null. Other ports that have nothing to do are
 * followers: their kernel threads are parked.
 *
 * <p><b>Invariants.</b> Only the leader selects. If there are followers, there is a leader, or a follower has been unparked to become one.
 *
 * <p><b>Orderings</b> (each pair: write one, then read the other, both volatile). A port writes {@code leader}, then reads {@code woken}; whoever wakes
 * it writes {@code woken}, then reads {@code leader}; only a poll that waits clears it, and whoever called that looks at the timers and queues again. The leader writes {@link #polling}, then applies the interest sets (in {@code select}); whoever arms a
 * channel changes its interest set, then reads {@code polling}. A follower enters {@link #followers}, then reads {@code leader}; a leader leaves
 * {@code leader}, then reads the followers.
 *
 * <p><b>Rejected.</b> A kernel thread of its own that selects and wakes carriers: each batch of events then costs a futex wake and a switch between
 * processors. A selector for each carrier: a channel would have to move with its thread, or be woken across.
 */
final class Reactor implements Consumer<SelectionKey> {
    private static final long BUSY_NANOS = 1_000_000;
    /** So many light threads that are ready and have not run are many. */
    private static final int MANY = 128;
    private static final long MANY_NANOS = 20_000_000;
    private static final Reactor INSTANCE = new Reactor();

    private final Selector selector;
    private final AtomicReference<Port> leader = new AtomicReference<>();
    private final ConcurrentLinkedQueue<Port> followers = new ConcurrentLinkedQueue<>();
    /** Channels that are to be registered before the next select: on JDK 8 registering waits for the end of a select. */
    private final ConcurrentLinkedQueue<Registration> unregistered = new ConcurrentLinkedQueue<>();
    private final AtomicInteger flushes = new AtomicInteger();
    final AtomicInteger waiting = new AtomicInteger();
    /** Light threads that have been made ready and have not run since. */
    final AtomicInteger woken = new AtomicInteger();
    private volatile long selected;
    private volatile boolean polling;

    private Reactor() {
        try {
            selector = Selector.open();
        } catch (IOException e) {
            throw new UncheckedIOException("no selector can be opened", e);
        }
    }

    static Reactor get() {
        return INSTANCE;
    }

    // ---- The side of those who wait.

    /** {@code r} has an interest set but no key. */
    void register(Registration r) {
        unregistered.add(r);
        changed();
    }

    /** An interest set has changed, or a key was cancelled. */
    void changed() {
        if (polling) {
            selector.wakeup();
        }
    }

    /** Makes the system forget channels that have been closed: their ports can be bound again. Blocks the kernel thread for a moment. */
    void flush() {
        Port self = new Port();
        flushes.incrementAndGet();
        try {
            while (!leader.compareAndSet(null, self)) {
                selector.wakeup();
                LockSupport.parkNanos(20_000);
            }
            try {
                select(0, self);
            } finally {
                leave();
            }
        } finally {
            flushes.decrementAndGet();
        }
    }

    // ---- The side of the ports.

    void poll(Port port, long nanos) {
        if (nanos == 0 && isBusy()) {
            return;
        }
        long deadline = nanos == Long.MAX_VALUE || nanos == 0 ? 0 : System.nanoTime() + nanos;
        long left = nanos;
        while (true) {
            if (flushes.get() > 0) {
                Thread.yield();
            }
            if (leader.compareAndSet(null, port)) {
                try {
                    select(left, port);
                } finally {
                    leave();
                }
                return;
            }
            if (left == 0 || follow(port, left)) {
                return;
            }
            left = nanos == Long.MAX_VALUE ? nanos : Math.max(0, deadline - System.nanoTime());
        }
    }

    /**
     * Whether a carrier that only looks by the way leaves it: what was found the last time comes first. While many of those have not run, most of what a select
     * would report are they, at the price of a fifth of an echo server's time.
     */
    private boolean isBusy() {
        int left = woken.get();
        return left > 0 && System.nanoTime() - selected < (left < MANY ? BUSY_NANOS : MANY_NANOS);
    }

    /** Parks. Returns true if {@link Port#poll} is over, false if there may be no leader. */
    private boolean follow(Port port, long nanos) {
        port.parked = Thread.currentThread();
        followers.add(port);
        try {
            if (!port.woken && leader.get() != null) {
                if (nanos == Long.MAX_VALUE) {
                    LockSupport.park(this);
                } else {
                    LockSupport.parkNanos(this, nanos);
                }
            }
        } finally {
            followers.remove(port);
            port.parked = null;
        }
        boolean woken = port.woken;
        port.woken = false;
        if (woken && leader.get() == null) {
            // It may have been unparked to lead as well: passes that on.
            unparkFollower();
        }
        return woken;
    }

    private void leave() {
        leader.set(null);
        unparkFollower();
    }

    private void unparkFollower() {
        Port next = followers.peek();
        if (next != null) {
            LockSupport.unpark(next.parked);
        }
    }

    void wake(Port port) {
        if (leader.get() == port) {
            selector.wakeup();
        } else {
            LockSupport.unpark(port.parked);
        }
    }

    /** Only the leader. */
    private void select(long nanos, Port port) {
        boolean wait = nanos != 0;
        polling = wait;
        try {
            Registration r;
            while ((r = unregistered.poll()) != null) {
                r.register(selector);
            }
            if (wait && port.woken) {
                wait = false;
            }
            Selecting.select(selector, this, !wait ? -1 : nanos == Long.MAX_VALUE ? 0 : Math.max(1, (nanos + 999_999) / 1_000_000));
        } catch (IOException e) {
            throw new UncheckedIOException("the selector failed", e);
        } finally {
            polling = false;
            if (nanos != 0) {
                // Not by a poll that does not wait: a carrier may be on its way to one that does, with a limit it has computed before.
                port.woken = false;
            }
            selected = System.nanoTime();
        }
    }

    @Override
    public void accept(SelectionKey key) {
        try {
            ((Registration) key.attachment()).ready(key.readyOps());
        } catch (CancelledKeyException e) {
            // Closed meanwhile: its waiters have been woken by that.
        }
    }
}
