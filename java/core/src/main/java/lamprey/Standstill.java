package lamprey;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import lamprey.instrument.Main;
import lamprey.instrument.RuntimeThread;

/**
 * A deadlock of the whole program: every thread waits, and nothing in the process can wake one. {@link Watch} looks for it, so a program that runs pays nothing.
 *
 * <p><b>When a program stands still.</b> When at one moment all of this is so:
 * <ul>
 * <li>each carrier of each runtime is idle, or parked with a thread that waits in a static initialiser; nothing is ready; no timer runs, no socket is waited for, nobody has announced a wake
 *     from outside ({@link PicoRuntime#external});
 * <li>no call is under way in the pool of {@link Blocking};
 * <li>every other kernel thread of the process is one of the JVM or of this library ({@link RuntimeThread}), or waits in a call of this library, without a limit.
 * </ul>
 * Then no code runs that could make a thread ready, and none will. So what the threads wait for need not be known. A kernel thread that is not known may do anything: while there is one, no
 * program counts as one that stands still. The same while a shutdown hook is registered that is a light thread: who has one expects to be ended from outside.
 *
 * <p><b>How one moment is seen.</b> The parts are read one after the other, and each gives a mark: a carrier the step that it is in, a kernel thread the wait that it is in, an object that no other
 * wait has, the pool the number of its calls. {@link #LOOKS} looks in a row must find everything at rest, with the same marks. A part that rested at both of two looks, with the same mark, has done
 * nothing between, so all rested at each moment between the end of the first look and the beginning of the second.
 *
 * <p><b>Orderings.</b> {@link Idlers#areIdle} reads what a carrier writes under the lock of the idle ones, after its step; the parker of a kernel thread is read by
 * {@link LockSupport#getBlocker}, and whether its wait has ended from the blocker itself, whose completion comes before the thread is woken.
 *
 * <p><b>Rejected.</b> Deciding by what threads wait for: who is parked waits for nobody knows what. Looking from an idle carrier: the last one to become idle need not be the last that could wake
 * another.
 *
 * <p><b>Checked by</b> {@code StandstillTest} of the module tests: what is found, and what must not be.
 */
final class Standstill {
    /** So many in a row, ten in a second. */
    private static final int LOOKS = 10;
    /** After a look that has found a kernel thread of the program, so many looks are left out, at most. */
    private static final int LONGEST_PAUSE = 50;

    private static final Set<String> OF_THE_SYSTEM = new HashSet<>(Arrays.asList("Reference Handler", "Finalizer", "Signal Dispatcher", "Attach Listener", "Notification Thread", "Service Thread",
        "Monitor Deflation Thread", "JFR Recorder Thread", "JFR Periodic Tasks"));

    /** Kernel threads in {@link PicoRuntime#awaitEnd()}, with an object for each such wait. */
    private static final Map<Thread, Object> AT_THE_END = new ConcurrentHashMap<>();

    /** The marks of the last look; null if something was under way. */
    private List<Object> before;
    private int times;
    private int pause;
    private int skip;

    /** The calling kernel thread begins, or ends, to wait for the end of a runtime. */
    static void waitsForTheEnd(boolean begins) {
        if (begins) {
            AT_THE_END.put(Thread.currentThread(), new Object());
        } else {
            AT_THE_END.remove(Thread.currentThread());
        }
    }

    /** Looks once. */
    void look(PicoRuntime[] all) {
        if (skip > 0) {
            skip--;
            return;
        }
        List<Object> now = new ArrayList<>();
        if (!carriersRest(all, now)) {
            before = null;
            times = 0;
            pause = 0;
            return;
        }
        if (!othersRest(now)) {
            before = null;
            times = 0;
            pause = Math.min(2 * pause + 1, LONGEST_PAUSE);
            skip = pause;
            return;
        }
        times = now.equals(before) ? times + 1 : 0;
        before = now;
        if (times == LOOKS) {
            report(all);
        }
    }

    /** Whether some runtime has threads that are to end, and no thread of any is ready or will be by itself. */
    private static boolean carriersRest(PicoRuntime[] all, List<Object> marks) {
        boolean waits = false;
        for (PicoRuntime r : all) {
            if (!r.deadlocks || r.stopped || r.expectsSomething()) {
                return false;
            }
            waits |= !r.quiescent();
        }
        if (!waits || Main.hasHooks()) {
            return false;
        }
        for (PicoRuntime r : all) {
            int held = 0;
            Carrier[] carriers = r.crew.carriers();
            for (Carrier c : carriers) {
                Object wait = LockSupport.getBlocker(c);
                if (wait instanceof HeldWait && ((HeldWait) wait).isOpen()) {
                    marks.add(wait);
                    held++;
                }
            }
            if (!r.idlers.areIdle(carriers.length - held)) {
                return false;
            }
            for (Carrier c : carriers) {
                marks.add(c);
                marks.add(c.tick);
            }
            for (ReadyQueue q : r.crew.queues) {
                if (q.size() > 0) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Whether no kernel thread that is no carrier can wake one. */
    private static boolean othersRest(List<Object> marks) {
        long calls = Blocking.callsAtRest();
        marks.add(calls);
        if (calls < 0) {
            return false;
        }
        for (Thread t : kernelThreads()) {
            if (t instanceof Carrier) {
                if (((Carrier) t).runtime.stopped) {
                    return false;
                }
            } else if (!(t instanceof RuntimeThread) && !isOfTheJvm(t)) {
                Object wait = rest(t);
                if (wait == null) {
                    return false;
                }
                marks.add(wait);
            }
        }
        return true;
    }

    /** The wait that the thread is in, in a call of this library that nobody outside can end; null if it is in none. */
    private static Object rest(Thread t) {
        Object end = AT_THE_END.get(t);
        if (end != null) {
            return end;
        }
        Object wait = LockSupport.getBlocker(t);
        if (t.getState() != Thread.State.WAITING) {
            return null;
        }
        if (wait instanceof KernelParking.PermitWait) {
            return wait;
        }
        return wait instanceof Blocker && !((Blocker) wait).isDone() && !isFromOutside(((Blocker) wait).reason()) ? wait : null;
    }

    private static boolean isFromOutside(WaitReason reason) {
        return reason == WaitReason.IO || reason == WaitReason.DNS || reason == WaitReason.SLEEP || reason == WaitReason.BLOCKING_CALL;
    }

    private static boolean isOfTheJvm(Thread t) {
        ThreadGroup g = t.getThreadGroup();
        if (g == null) {
            return false; // it has just ended: the next look finds it gone
        }
        return g.getParent() == null && (OF_THE_SYSTEM.contains(t.getName()) || t.getName().matches("C[12] CompilerThread\\d+"))
            || t.getName().equals("Common-Cleaner") && t.getClass().getName().endsWith(".InnocuousThread")
            || t.getName().equals("DestroyJavaVM") && t.getClass() == Thread.class;
    }

    private static ThreadGroup root() {
        ThreadGroup g = Thread.currentThread().getThreadGroup();
        while (g.getParent() != null) {
            g = g.getParent();
        }
        return g;
    }

    /** All that are alive, but for virtual ones and those that the JVM hides. */
    private static Thread[] kernelThreads() {
        Thread[] found = new Thread[64];
        for (;;) {
            int n = root().enumerate(found, true);
            if (n < found.length) {
                return Arrays.copyOf(found, n);
            }
            found = new Thread[2 * found.length];
        }
    }

    /** Prints which threads wait for what, and ends the runtimes that have some. Not by the watch: printing may block. */
    private static void report(PicoRuntime[] all) {
        List<PicoThread> threads = new ArrayList<>();
        for (PicoRuntime r : all) {
            threads.addAll(r.threads());
        }
        for (Thread t : kernelThreads()) {
            Object wait = LockSupport.getBlocker(t);
            PicoThread waiting = wait instanceof KernelParking.PermitWait ? ((KernelParking.PermitWait) wait).thread : wait instanceof Blocker ? ((Blocker) wait).thread : null;
            if (waiting != null && !threads.contains(waiting)) {
                threads.add(waiting);
            }
        }
        Blocking.execute(() -> {
            Groups groups = Groups.of(ThreadRow.of(threads), true);
            String first = "deadlock: " + (threads.size() == 1 ? "the only thread waits" : "all " + threads.size() + " threads wait") + ", and nothing ";
            String report = first + "is under way in the process that could wake one (see PicoRuntime.Builder.deadlocks):\n" + groups.text(true);
            System.err.println("lamprey: " + report + "\nThe runtime stops now: the threads do not go on, and `run` throws a DeadlockError.");
            for (PicoRuntime r : all) {
                if (!r.quiescent()) {
                    r.broken(DeadlockError.of(first + "could wake one", report));
                }
            }
        });
    }
}
