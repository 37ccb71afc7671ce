package lamprey;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import lamprey.instrument.RuntimeThread;

/**
 * Sees carriers that are held: whose thread waits in the JVM, so in code that is not transformed, or in a static initialiser. One kernel thread looks at all carriers ten times a second. Who is
 * held while no other carrier can run what is ready is replaced ({@link Crew#replace}); who is held for a tenth of a second while something waits behind it, or for a second, is reported
 * ({@link HeldReport}). So is who computes for a tenth of a second while something waits behind it; it is not replaced.
 *
 * <p><b>What counts as held.</b> Time is counted in looks, not by the clock: while the JVM or the machine stands still, nobody looks. The carrier must be in the same step as at the look before, by
 * {@link Carrier#tick}, and wait in the same place: the JVM says that it waits or sleeps or is blocked; or it runs, has used no processor time since the last look, and is in a native
 * method (that reads from a socket, say) or may be waiting for a class that another carrier initialises, for which the JVM has no state. So code that computes is not held, however
 * long it does. What counts for its report is the processor time that it has used.
 *
 * <p><b>What it costs.</b> A carrier that has switched since the last look: reading two fields. One that computes on: its stack, ever more seldom. Carriers do nothing for it.
 */
final class Watch implements Runnable {
    private static final long PERIOD = TimeUnit.MILLISECONDS.toNanos(100);
    /** Until a look that only replaces, after one that has: there may be many threads that go to a place that is known to hold them. */
    private static final long SOON = TimeUnit.MILLISECONDS.toNanos(10);
    /** How many of them come in a row. */
    private static final int IN_A_ROW = 9;
    /** After so many looks a carrier that is held is replaced; in a place that has been seen to hold one, after the first. */
    private static final int REPLACE = 2;
    /** After so many looks it is reported, if nothing waits behind it. */
    private static final int REPORT = 11;
    /** One that computes is looked at after so many looks, at least. */
    private static final int SELDOM = 16;
    private static final long NO_TIME = TimeUnit.MILLISECONDS.toNanos(2);

    /** More than so many places are not remembered. */
    private static final int MOST = 1000;

    /** Where carriers have been held that were replaced. Of the thread that watches. */
    private final Set<String> known = new HashSet<>();

    /** How many looks in a row came {@link #SOON}, and whether the last one has replaced a carrier. */
    private int soon;
    private boolean replaced;

    /** Those with carriers, that have not been stopped. Its lock also guards whether there is a thread. */
    private static final List<PicoRuntime> RUNTIMES = new ArrayList<>();

    private final Standstill standstill = new Standstill();

    private Watch() {}

    /** What has been seen of one carrier, by the thread that watches. */
    static final class Seen {
        private int tick;
        /** How many looks in the same step. */
        private int looks;
        /** The number of the next look that takes the stack. */
        private int next;
        private int pause;
        /** Where it waits; null if it does not. */
        private String place;
        /** How many looks in a row have found it there. */
        private int times;
        private long processorTime;
        /** The processor time of the carrier when it was first seen to compute with something behind it, in this step; negative before. */
        private long computes;
        /** Whether something waited behind it at the look before. */
        private boolean behind;
        private boolean initialises;
        private boolean reported;

        /** For how long the carrier has been in this step, about so: that many looks. */
        long heldNanos(int step) {
            return step == tick ? looks * PERIOD : 0;
        }

        private void begin(int step) {
            tick = step;
            looks = 0;
            next = 1;
            pause = 1;
            place = null;
            times = 0;
            processorTime = -1;
            computes = -1;
            behind = false;
            initialises = false;
            reported = false;
        }
    }

    /** Watches over the carriers of a runtime, until it is stopped. */
    static void over(PicoRuntime r) {
        synchronized (RUNTIMES) {
            CoarseClock.set(System.nanoTime());
            RUNTIMES.add(r);
            if (RUNTIMES.size() == 1) {
                new RuntimeThread(new Watch(), "lamprey-watch").start();
            }
        }
    }

    @Override
    public void run() {
        while (forgetStopped()) {
            try {
                lookAtAll();
            } catch (VirtualMachineError e) {
                // No memory, or no more kernel threads: the next look may have more luck. Nobody else would look.
            }
        }
    }

    /** Forgets the runtimes that have been stopped; returns whether any is left. */
    private static boolean forgetStopped() {
        synchronized (RUNTIMES) {
            for (int i = RUNTIMES.size() - 1; i >= 0; i--) {
                if (RUNTIMES.get(i).stopped) {
                    RUNTIMES.remove(i);
                }
            }
            return !RUNTIMES.isEmpty();
        }
    }

    private void lookAtAll() {
        soon = replaced && soon < IN_A_ROW ? soon + 1 : 0;
        LockSupport.parkNanos(soon > 0 ? SOON : PERIOD);
        CoarseClock.set(System.nanoTime());
        PicoRuntime[] all;
        synchronized (RUNTIMES) {
            all = RUNTIMES.toArray(new PicoRuntime[0]);
        }
        if (soon == 0) {
            Flight.look();
            standstill.look(all);
        }
        replaced = false;
        for (PicoRuntime r : all) {
            try {
                replaced |= soon > 0 ? lookAgain(r) : look(r);
            } catch (VirtualMachineError e) {
                // As above; the other runtimes are looked at.
            }
        }
    }

    /** Returns whether a carrier has been replaced. */
    private boolean look(PicoRuntime r) {
        Carrier[] all = r.crew.carriers();
        boolean replaced = false;
        for (Carrier c : all) {
            replaced |= look(r, c, all);
        }
        return replaced;
    }

    private boolean look(PicoRuntime r, Carrier c, Carrier[] all) {
        Seen s = c.seen;
        int tick = c.tick;
        PicoThread t = c.running;
        if (t == null || tick != s.tick) {
            s.begin(tick);
            return false;
        }
        if (++s.looks < s.next) {
            return false;
        }
        HeldStack stack = waiting(c, all);
        boolean behind = somethingIsBehind(r, c);
        if (stack == null) {
            s.place = null;
            s.times = 0;
            if (behind) {
                computes(r, c, t, tick);
            }
            s.behind = behind;
            s.pause = behind && !s.reported ? 1 : Math.min(2 * s.pause, SELDOM);
            s.next = s.looks + s.pause;
            return false;
        }
        String place = stack.place();
        s.times = place.equals(s.place) ? s.times + 1 : 1;
        s.place = place;
        s.pause = 1;
        s.next = s.looks + 1;
        boolean replaced = s.times >= (known.contains(place) ? 1 : REPLACE) && replace(r, c, tick, s.times);
        if (replaced && known.size() < MOST) {
            known.add(place);
        }
        long held = s.looks * PERIOD;
        boolean matters = s.behind && behind && s.times > 1 && held >= r.stuckAfter;
        s.behind = behind;
        if ((matters || s.times >= REPORT && held >= r.stuckAfter) && !s.reported && c.tick == tick) {
            s.reported = true;
            HeldReport.of(r, c, t, stack, held);
        }
        return replaced;
    }

    /** Whether something is ready that waits for this carrier, about so. Another that gets on would take it. */
    private static boolean somethingIsBehind(PicoRuntime r, Carrier c) {
        if (c.queue == r.crew.outside || !r.idlers.allAreBusy()) {
            return false;
        }
        for (Carrier o : r.crew.carriers()) {
            if (o != c && o.seen.looks == 0) {
                return false;
            }
        }
        return c.queue.size() > 0 || !r.inbox.isEmpty() || r.virtual == null && r.timers.earliest() < r.now() - PERIOD;
    }

    /** The carrier computes, and something waits behind it: reported once it has used enough processor time. */
    private static void computes(PicoRuntime r, Carrier c, PicoThread t, int tick) {
        Seen s = c.seen;
        if (s.reported || !s.behind) {
            return;
        }
        long used = ProcessorTime.of(c);
        if (s.computes < 0) {
            s.computes = used;
        } else if (used - s.computes >= Math.max(r.stuckAfter - PERIOD, NO_TIME) && c.tick == tick) {
            HeldStack stack = new HeldStack(Thread.State.RUNNABLE, c.getStackTrace());
            if (c.tick == tick) {
                s.reported = true;
                HeldReport.ofComputing(r, c, t, stack, s.looks * PERIOD);
            }
        }
    }

    /** Replaces those that are held in a place that is known. Returns whether it has. */
    private boolean lookAgain(PicoRuntime r) {
        Carrier[] all = r.crew.carriers();
        boolean replaced = false;
        for (Carrier c : all) {
            int tick = c.tick;
            if (c.running == null || tick != c.seen.tick) {
                c.seen.begin(tick);
            } else if (c.queue != r.crew.outside) {
                HeldStack stack = waiting(c, all);
                replaced |= stack != null && known.contains(stack.place()) && replace(r, c, tick, 0);
            }
        }
        return replaced;
    }

    /** Replaces a carrier that is held, if no other can run what is ready. */
    private static boolean replace(PicoRuntime r, Carrier c, int tick, int times) {
        if (c.queue == r.crew.outside || !r.idlers.allAreBusy() && c.queue.size() == 0) {
            return false;
        }
        boolean replaced = r.crew.replace(c, tick);
        if (!replaced && times >= REPORT && r.crew.isExhausted()) {
            HeldReport.nothingRuns(r);
        }
        return replaced;
    }

    /** The stack of a carrier that waits; null if it computes. */
    private static HeldStack waiting(Carrier c, Carrier[] all) {
        Thread.State state = c.getState();
        HeldStack stack = new HeldStack(state, c.getStackTrace());
        c.seen.initialises = stack.initialises();
        return state == Thread.State.TERMINATED || state == Thread.State.RUNNABLE && !waitsInTheJvm(c, stack, all) ? null : stack;
    }

    private static boolean waitsInTheJvm(Carrier c, HeldStack stack, Carrier[] all) {
        if (!stack.isNative() && !isInitialising(all, c)) {
            c.seen.processorTime = -1;
            return false;
        }
        long before = c.seen.processorTime;
        long now = ProcessorTime.of(c);
        c.seen.processorTime = now;
        return now >= 0 && before >= 0 && now - before < NO_TIME;
    }

    /** Whether another carrier has been seen in a static initialiser. */
    private static boolean isInitialising(Carrier[] all, Carrier but) {
        for (Carrier c : all) {
            if (c != but && c.seen.initialises) {
                return true;
            }
        }
        return false;
    }

    /** How long threads have run. A class of its own: it is not needed before a thread is in a native method for long, and the JVM may have come without the module. */
    private static final class ProcessorTime {
        private static final java.lang.management.ThreadMXBean BEAN = bean();

        private static java.lang.management.ThreadMXBean bean() {
            try {
                java.lang.management.ThreadMXBean b = java.lang.management.ManagementFactory.getThreadMXBean();
                return b.isThreadCpuTimeSupported() && b.isThreadCpuTimeEnabled() ? b : null;
            } catch (RuntimeException | LinkageError e) {
                return null;
            }
        }

        /** In nanoseconds; negative if it is not known. */
        static long of(Thread t) {
            return BEAN == null ? -1 : BEAN.getThreadCpuTime(t.getId());
        }
    }
}
