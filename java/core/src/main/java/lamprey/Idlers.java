package lamprey;

import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * How carriers find work, sleep when there is none, and are woken.
 *
 * <p><b>States of a carrier.</b> Working: runs threads. Searching: has run out, looks into the inbox, the timers and other queues. Idle: on the stack {@link #idle},
 * parked; or, as <em>keeper</em>, parked until the first timer, or waiting in the source of I/O.
 *
 * <p><b>No work is left while a carrier is idle.</b> Who adds work first adds it (ending with a volatile write), then reads {@link #searching} and {@link #idleCount};
 * if nobody searches and someone is idle, it wakes one. A carrier that goes idle first counts as idle, then no longer as searching, then looks at
 * all queues once more. If the adder saw no idle carrier or a searching one, that last look comes after the work was added, and sees it. A searching carrier that finds
 * work, and was the last to search, wakes another if there is more.
 *
 * <p><b>One keeper.</b> If any carrier is idle, one is the keeper or is being woken. A keeper that is woken passes the role on, by waking another idle carrier if
 * there are timers or I/O. Working carriers look at timers and I/O every {@link #PERIOD} threads, so the role matters only while all are idle. A new first timer
 * wakes the keeper: the adder writes the moment, then reads the keeper; the keeper writes itself, then reads the moment.
 *
 * <p><b>Rejected.</b> Waking a carrier for each thread made ready: a wake-up costs microseconds. Spinning idlers: there may be fewer processors than carriers.
 */
final class Idlers {
    /** After so many threads, a busy carrier looks at the timers, I/O and the inbox. */
    private static final int PERIOD = 64;

    private final PicoRuntime runtime;
    private final ArrayDeque<Carrier> idle = new ArrayDeque<>();
    private volatile int idleCount;
    private final AtomicInteger searching = new AtomicInteger();
    private volatile Carrier keeper;

    Idlers(PicoRuntime runtime) {
        this.runtime = runtime;
    }

    /** Work has been added where others can get it. */
    void workCame() {
        if (idleCount > 0 && searching.get() == 0) {
            wakeOne();
        }
    }

    /** A timer has become the first. */
    void firstTimerCame() {
        Carrier k = keeper;
        if (k != null && k != Thread.currentThread()) {
            unpark(k);
        }
    }

    private void wakeOne() {
        Carrier c;
        synchronized (idle) {
            c = idle.pollLast();
            if (c == null) {
                return;
            }
            idleCount = idle.size();
            searching.incrementAndGet();
            c.woken = true;
        }
        unpark(c);
    }

    /** All go and see that the runtime has been stopped. */
    void wakeAll() {
        for (Carrier c : runtime.crew.carriers()) {
            unpark(c);
        }
    }

    private void unpark(Carrier c) {
        IoSource io = runtime.io;
        if (io != null && c == keeper) {
            io.wakeup();
        }
        LockSupport.unpark(c);
    }

    /** The thread that {@code c} runs next. Blocks the carrier while there is none. Null after the runtime was stopped, or the carrier replaced. */
    PicoThread next(Carrier c) {
        if ((++c.tick & PERIOD - 1) == 0) {
            PicoThread t = periodic(c);
            if (t != null) {
                return t;
            }
        }
        runtime.step();
        PicoThread t = c.queue.next();
        if (t != null && runtime.stopped) {
            runtime.lost(t);
            return null;
        }
        return t != null ? t : search(c);
    }

    private PicoThread periodic(Carrier c) {
        runtime.expire();
        if (runtime.io != null && runtime.io.isWaitedFor()) {
            poll(c, 0);
        }
        runtime.checkEnd();
        return runtime.inbox.isEmpty() ? null : runtime.inbox.takeFor(c.queue);
    }

    /** Whether no carrier waits for work, nor looks for it: about so. */
    boolean allAreBusy() {
        return idleCount == 0 && searching.get() == 0;
    }

    /** Whether so many carriers wait for work, and none looks for it. After true, what they have counted before is seen. */
    boolean areIdle(int n) {
        return searching.get() == 0 && idleCount == n;
    }

    private PicoThread search(Carrier c) {
        if (runtime.crew.isReplaced(c)) {
            return null;
        }
        searching.incrementAndGet();
        for (;;) {
            if (runtime.stopped) {
                searching.decrementAndGet();
                return null;
            }
            PicoThread t = look(c);
            if (t != null) {
                if (searching.decrementAndGet() == 0 && idleCount > 0 && workElsewhere()) {
                    wakeOne();
                }
                return t;
            }
            goIdle(c);
        }
    }

    private PicoThread look(Carrier c) {
        runtime.expire();
        PicoThread t = c.queue.next();
        if (t == null && !runtime.inbox.isEmpty()) {
            t = runtime.inbox.takeFor(c.queue);
        }
        if (t == null && runtime.io != null) {
            poll(c, 0);
            t = c.queue.next();
        }
        ReadyQueue[] all = runtime.crew.queues;
        for (int i = 1; t == null && i < all.length; i++) {
            t = all[(c.index + i) % all.length].stealFor(c.queue);
        }
        return t;
    }

    private boolean workElsewhere() {
        if (!runtime.inbox.isEmpty()) {
            return true;
        }
        for (ReadyQueue q : runtime.crew.queues) {
            if (q.size() > 0) {
                return true;
            }
        }
        return false;
    }

    /** From searching to idle, and back to searching. */
    private void goIdle(Carrier c) {
        synchronized (idle) {
            c.woken = false;
            idle.addLast(c);
            idleCount = idle.size();
        }
        searching.decrementAndGet();
        boolean keeps = false;
        while (!c.woken && !runtime.stopped && !workElsewhere()) {
            if (keeper == null) {
                keeps = becomeKeeper(c);
            }
            if (runtime.timers.earliest() <= runtime.now() || runtime.idle()) {
                break;
            }
            if (keeps) {
                sleepAsKeeper(c);
            } else {
                LockSupport.park(runtime);
            }
        }
        synchronized (idle) {
            if (!c.woken) {
                idle.remove(c);
                idleCount = idle.size();
                searching.incrementAndGet();
            }
            keeps = keeper == c;
            if (keeps) {
                keeper = null;
            }
        }
        if (keeps && idleCount > 0 && (runtime.io != null || runtime.timers.earliest() != Long.MAX_VALUE)) {
            wakeOne();
        }
    }

    private boolean becomeKeeper(Carrier c) {
        synchronized (idle) {
            if (keeper == null) {
                keeper = c;
            }
            return keeper == c;
        }
    }

    /** Until the first timer, readiness of I/O, or being woken. */
    private void sleepAsKeeper(Carrier c) {
        long first = runtime.timers.earliest();
        long nanos = first == Long.MAX_VALUE ? Long.MAX_VALUE : Math.max(first - runtime.now(), 1);
        if (c.woken || runtime.stopped || workElsewhere()) {
            return;
        }
        if (runtime.io != null) {
            poll(c, nanos);
        } else if (nanos == Long.MAX_VALUE) {
            LockSupport.park(runtime);
        } else {
            LockSupport.parkNanos(runtime, nanos);
        }
    }

    /** Only one carrier is in the source at a time. */
    private void poll(Carrier c, long nanos) {
        IoSource io = runtime.io;
        if (io != null && runtime.enterIo()) {
            try {
                io.poll(nanos);
            } finally {
                runtime.leaveIo();
            }
        } else if (io != null && nanos > 0) {
            LockSupport.parkNanos(runtime, Math.min(nanos, 1_000_000));
        }
    }
}
