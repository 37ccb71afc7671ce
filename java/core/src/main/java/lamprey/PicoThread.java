package lamprey;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import lamprey.event.Event;
import lamprey.instrument.MethodInfo;
import lamprey.instrument.Primitive;
import lamprey.instrument.Suspendable;

/**
 * A light thread, with the methods of {@link Thread}. A program that is transformed uses it by the name of {@code Thread}.
 *
 * <p>It is run by the carriers of a {@link PicoRuntime}: of the one that its creator belongs to, else of {@link PicoRuntime#standard()}. It gives way only where it
 * blocks or yields; two threads of a runtime with one carrier never run at the same time.
 *
 * <p>Kernel threads have one too ({@link #currentThread()}), so whatever blocks light threads also blocks them.
 */
public class PicoThread extends LightThread implements Runnable {
    /** Least priority. */
    public static final int MIN_PRIORITY = Thread.MIN_PRIORITY;
    /** Usual priority. */
    public static final int NORM_PRIORITY = Thread.NORM_PRIORITY;
    /** Greatest priority. */
    public static final int MAX_PRIORITY = Thread.MAX_PRIORITY;

    private static final MethodInfo YIELD = info("yield", "()V");
    private static final MethodInfo SLEEP = info("sleep", "(J)V");
    private static final MethodInfo SLEEP_NANOS = info("sleep", "(JI)V");
    private static final MethodInfo SLEEP_DURATION = info("sleep", "(Ljava/time/Duration;)V");
    private static final MethodInfo JOIN = info("join", "()V");
    private static final MethodInfo JOIN_MILLIS = info("join", "(J)V");
    private static final MethodInfo JOIN_NANOS = info("join", "(JI)V");
    private static final AtomicLong IDS = new AtomicLong(1_000_000_000L);
    private static final AtomicLong NAMES = new AtomicLong();

    private static volatile UncaughtExceptionHandler defaultHandler;

    /** Is told of an exception that a thread has not caught. As {@link Thread.UncaughtExceptionHandler}. */
    @FunctionalInterface
    public interface UncaughtExceptionHandler {
        /** Called on the thread that ends, as its last action. May block. What it throws is ignored. */
        @Suspendable
        void uncaughtException(PicoThread thread, Throwable error);
    }

    private static MethodInfo info(String name, String desc) {
        return MethodInfo.primitive(PicoThread.class, name, desc);
    }

    // ---- Making.

    /** A thread whose {@link #run()} a subclass overrides. */
    public PicoThread() {
        this(null, null, null);
    }

    /** A thread that runs {@code target}. */
    public PicoThread(Runnable target) {
        this(null, target, null);
    }

    /** A thread with a name. */
    public PicoThread(String name) {
        this(null, null, notNull(name));
    }

    /** A thread that runs {@code target}. */
    public PicoThread(Runnable target, String name) {
        this(null, target, notNull(name));
    }

    /** A thread that runs {@code target}; the group is not used. */
    public PicoThread(ThreadGroup group, Runnable target) {
        this(group, target, null);
    }

    /** A thread with a name; the group is not used. */
    public PicoThread(ThreadGroup group, String name) {
        this(group, null, notNull(name));
    }

    /** A thread that runs {@code target}; the group is not used. If the stack is to have more than a megabyte, a kernel thread of its own runs it, but not in a simulation. */
    public PicoThread(ThreadGroup group, Runnable target, String name, long stackSize) {
        this(group, target, notNull(name));
        stackSize(stackSize);
    }

    /** A thread that runs {@code target}; the group is not used. If the stack is to have more than a megabyte, a kernel thread of its own runs it, but not in a simulation. */
    public PicoThread(ThreadGroup group, Runnable target, String name, long stackSize, boolean inheritInheritableThreadLocals) {
        this(group, target, notNull(name));
        stackSize(stackSize);
        if (!inheritInheritableThreadLocals) {
            locals = null;
        }
    }

    /** A thread that runs {@code target}; the group is not used. A null name is made up when it is asked for. */
    public PicoThread(ThreadGroup group, Runnable target, String name) {
        this.target = target;
        if (name != null) {
            details().name = name;
        }
        PicoThread parent = currentThread();
        daemon = parent.daemon;
        priority = parent.priority;
        if (parent.locals != null) {
            locals = parent.locals.inherited();
        }
        Details d = parent.details;
        if (d != null) {
            ClassLoader l = parent.getContextClassLoader();
            if (l != ClassLoader.getSystemClassLoader()) {
                details().loader = l;
            }
        }
    }

    /** Of a kernel thread. */
    PicoThread(Thread kernel) {
        details().kernel = kernel;
        daemon = kernel.isDaemon();
        priority = (byte) kernel.getPriority();
        state = STARTED;
    }

    private static String notNull(String name) {
        if (name == null) {
            throw new NullPointerException("the name of a thread cannot be null");
        }
        return name;
    }

    /** Starts a thread that runs {@code task}. Does not block. */
    public static PicoThread spawn(Runnable task) {
        PicoThread t = new PicoThread(task);
        t.start();
        return t;
    }

    /** Starts a thread that runs {@code task}; the name that {@code Thread} has for it. Does not block. */
    public static PicoThread startVirtualThread(Runnable task) {
        return Builders.ofVirtual().start(task);
    }

    /** A builder. */
    public static Builder.OfVirtual ofPico() {
        return Builders.ofPico();
    }

    /** A builder of daemons, as virtual threads are. */
    public static Builder.OfVirtual ofVirtual() {
        return Builders.ofVirtual();
    }

    /** A builder. */
    public static Builder.OfPlatform ofPlatform() {
        return Builders.ofPlatform();
    }

    /** Makes threads. As {@code Thread.Builder}. */
    public interface Builder {
        /** The name of each. */
        Builder name(String name);

        /** The name's beginning, followed by a number that counts from {@code start}. */
        Builder name(String prefix, long start);

        /** The handler of each. */
        Builder uncaughtExceptionHandler(UncaughtExceptionHandler handler);

        /** Whether each inherits the values of inheritable locals. */
        Builder inheritInheritableThreadLocals(boolean inherit);

        /** Makes a thread. */
        PicoThread unstarted(Runnable task);

        /** Makes a thread and starts it. */
        PicoThread start(Runnable task);

        /** Makes such threads. */
        PicoThreadFactory factory();

        /** As {@code Thread.Builder.OfVirtual}. */
        interface OfVirtual extends Builder {
            @Override
            OfVirtual name(String name);

            @Override
            OfVirtual name(String prefix, long start);

            @Override
            OfVirtual uncaughtExceptionHandler(UncaughtExceptionHandler handler);

            @Override
            OfVirtual inheritInheritableThreadLocals(boolean inherit);
        }

        /** As {@code Thread.Builder.OfPlatform}; makes light threads too. */
        interface OfPlatform extends Builder {
            @Override
            OfPlatform name(String name);

            @Override
            OfPlatform name(String prefix, long start);

            @Override
            OfPlatform uncaughtExceptionHandler(UncaughtExceptionHandler handler);

            @Override
            OfPlatform inheritInheritableThreadLocals(boolean inherit);

            /** Whether it is a daemon. */
            OfPlatform daemon(boolean on);

            /** A daemon. */
            OfPlatform daemon();

            /** The priority of each. */
            OfPlatform priority(int priority);

            /** Not used. */
            OfPlatform group(ThreadGroup group);

            /** Not used. */
            OfPlatform stackSize(long size);
        }
    }

    // ---- Running.

    /** Runs the target. A subclass may override it. */
    @Override
    @Suspendable
    public void run() {
        Runnable t = target;
        if (t != null) {
            t.run();
        }
    }

    /**
     * Makes the thread ready for the first time, in the runtime of the calling thread. Does not block.
     *
     * @throws IllegalThreadStateException if it has been started
     */
    public void start() {
        Carrier c = Carrier.running();
        if (c != null) {
            c.runtime.startFrom(c, this);
        } else {
            PicoRuntime r = currentThread().runtime;
            (r == null ? PicoRuntime.standard() : r).start(this);
        }
    }

    /** The calling thread; a kernel thread that was not started by this library gets one that stands for it. Never null. */
    public static PicoThread currentThread() {
        Carrier c = Carrier.running();
        return c != null ? c.running : KernelThreads.current();
    }

    /** Lets other ready threads run. Suspends a light thread; {@link Thread#yield()} for a kernel thread. */
    @Primitive
    public static void yield() {
        Carrier c = Carrier.running();
        if (c == null) {
            Thread.yield();
        } else {
            c.suspend(YIELD);
        }
    }

    /** A hint that the caller spins. A light thread should yield instead. */
    public static void onSpinWait() {
        KernelThreads.onSpinWait();
    }

    /**
     * Sleeps for {@code millis} milliseconds. Blocks.
     *
     * @throws IllegalArgumentException if {@code millis} is negative
     * @throws InterruptedException if the thread is interrupted, before or meanwhile; the interrupt is then cleared
     */
    @Primitive
    public static void sleep(long millis) throws InterruptedException {
        Parking.sleep(TimeUnit.MILLISECONDS.toNanos(notNegative(millis, "sleep")), SLEEP);
    }

    /** As {@link #sleep(long)}, with {@code nanos} nanoseconds (0 to 999999) more. */
    @Primitive
    public static void sleep(long millis, int nanos) throws InterruptedException {
        Parking.sleep(PicoRuntime.nanos(notNegative(millis, "sleep"), nanos(nanos)), SLEEP_NANOS);
    }

    /** As {@link #sleep(long)}; a duration that is not positive is none. */
    @Primitive
    public static void sleep(Duration duration) throws InterruptedException {
        Parking.sleep(nanos(duration), SLEEP_DURATION);
    }

    private static long nanos(Duration d) {
        if (d.isNegative()) {
            return 0;
        }
        return d.getSeconds() >= Long.MAX_VALUE / 1_000_000_000L ? Long.MAX_VALUE : d.toNanos();
    }

    private static long notNegative(long millis, String what) {
        if (millis < 0) {
            throw new IllegalArgumentException(what + ": " + millis + " milliseconds; a time cannot be negative");
        }
        return millis;
    }

    private static int nanos(int nanos) {
        if (nanos < 0 || nanos > 999_999) {
            throw new IllegalArgumentException(nanos + " nanoseconds are not between 0 and 999999");
        }
        return nanos;
    }

    /**
     * The event of the thread's end; of a thread that has not been started when it is synchronised on, happens at once, as {@link #join()} returns.
     *
     * @throws UnsupportedOperationException if this is a kernel thread that the library has not started
     */
    public final Event<Void> joinEvt() {
        if (runtime == null && kernel() != null) {
            throw new UnsupportedOperationException(this + " is a kernel thread that was started by java.lang.Thread: its end is no event; use join()");
        }
        return Event.guard(() -> (state & STARTED) == 0 ? Event.<Void>always(null) : ending().getEvt());
    }

    /**
     * Waits until the thread has ended. Blocks.
     *
     * @throws InterruptedException if the caller is interrupted, before or meanwhile; the interrupt is then cleared
     */
    @Primitive
    public final void join() throws InterruptedException {
        Parking.join(this, Long.MAX_VALUE, JOIN);
    }

    /** As {@link #join()}, for {@code millis} milliseconds at most; 0 is no limit. */
    @Primitive
    public final void join(long millis) throws InterruptedException {
        long nanos = TimeUnit.MILLISECONDS.toNanos(notNegative(millis, "join"));
        Parking.join(this, nanos == 0 ? Long.MAX_VALUE : nanos, JOIN_MILLIS);
    }

    /** As {@link #join(long)}, with {@code nanos} nanoseconds more. */
    @Primitive
    public final void join(long millis, int nanos) throws InterruptedException {
        long limit = PicoRuntime.nanos(notNegative(millis, "join"), nanos(nanos));
        Parking.join(this, limit == 0 ? Long.MAX_VALUE : limit, JOIN_NANOS);
    }

    /**
     * As {@link #join()}, for {@code duration} at most.
     *
     * @return whether it has ended
     * @throws IllegalThreadStateException if it was not started
     */
    public final boolean join(Duration duration) throws InterruptedException {
        if (getState() == Thread.State.NEW) {
            throw new IllegalThreadStateException(this + " was not started; nobody can wait for its end");
        }
        long nanos = nanos(duration);
        if (nanos > 0) {
            Parking.join(this, nanos);
        }
        return !isAlive();
    }

    // ---- Interrupts.

    /** Interrupts the thread: it leaves what it blocks in, or the next time that it blocks, with an {@link InterruptedException} where there is one. */
    public void interrupt() {
        Thread k = kernel();
        if (k != null) {
            k.interrupt();
        } else {
            interruptLight();
        }
    }

    /** Whether the thread is interrupted. */
    public boolean isInterrupted() {
        Thread k = kernel();
        return k != null ? k.isInterrupted() : (state & INTERRUPTED) != 0;
    }

    /** Whether the calling thread is interrupted; clears it. */
    public static boolean interrupted() {
        Carrier c = Carrier.running();
        return c == null ? Thread.interrupted() : c.running.clearInterrupt();
    }

    // ---- What it is.

    /** Whether it has been started and has not ended. */
    public final boolean isAlive() {
        Thread k = kernel();
        return runtime == null && k != null ? k.isAlive() : (state & STARTED) != 0 && !hasEnded();
    }

    /** Its state. */
    public Thread.State getState() {
        Thread k = kernel();
        if (runtime == null && k != null) {
            return k.getState();
        }
        if ((state & STARTED) == 0) {
            return Thread.State.NEW;
        }
        if (hasEnded()) {
            return Thread.State.TERMINATED;
        }
        Blocker b = blocker;
        if (b == null) {
            return Thread.State.RUNNABLE;
        }
        if (b.reason() == WaitReason.MONITOR) {
            return Thread.State.BLOCKED;
        }
        return timer != null || b instanceof Timer ? Thread.State.TIMED_WAITING : Thread.State.WAITING;
    }

    /** What it waits for; null if it does not wait. */
    public WaitReason getWaitReason() {
        Blocker b = blocker;
        return b == null || hasEnded() ? null : b.reason();
    }

    /** Its number, given when first asked for. */
    public long getId() {
        return threadId();
    }

    /** Its number, given when first asked for. */
    public final long threadId() {
        Details d = details();
        synchronized (d) {
            if (d.id == 0) {
                d.id = IDS.incrementAndGet();
            }
            return d.id;
        }
    }

    /** Its name. If it was given none: Thread-0, Thread-1, and so on, in the order in which the threads are first asked (the JDK's: in which they are made). */
    public final String getName() {
        Details d = details();
        String n = d.name;
        if (n == null) {
            Thread k = runtime == null ? d.kernel : null;
            if (k != null) {
                return k.getName();
            }
            synchronized (d) {
                n = d.name;
                if (n == null) {
                    n = "Thread-" + NAMES.getAndIncrement();
                    d.name = n;
                }
            }
        }
        return n;
    }

    /** Gives it a name. */
    public final void setName(String name) {
        Details d = details();
        synchronized (d) {
            d.name = notNull(name);
        }
        Thread k = kernel();
        if (k != null) {
            k.setName(name);
        }
    }

    /** Whether the program may end while it has not. */
    public final boolean isDaemon() {
        return daemon;
    }

    /**
     * Whether the program may end while it has not.
     *
     * @throws IllegalThreadStateException if it has been started
     */
    public final void setDaemon(boolean on) {
        if ((state & STARTED) != 0 && !hasEnded()) {
            throw new IllegalThreadStateException(this + " has been started: it cannot become " + (on ? "a" : "no") + " daemon");
        }
        daemon = on;
    }

    /** True: light threads are not the JVM's platform threads. False for a kernel thread. */
    public final boolean isVirtual() {
        return kernel() == null;
    }

    /** Its priority; only {@link Schedulers#priority()} looks at it. */
    public final int getPriority() {
        return priority;
    }

    /** Its priority, 1 to 10; only {@link Schedulers#priority()} looks at it, when the thread next becomes ready. */
    public final void setPriority(int priority) {
        if (priority < MIN_PRIORITY || priority > MAX_PRIORITY) {
            throw new IllegalArgumentException("priority " + priority + " is not between 1 and 10");
        }
        this.priority = (byte) priority;
    }

    /** The group of the kernel thread that calls: light threads have none of their own. */
    public final ThreadGroup getThreadGroup() {
        return hasEnded() ? null : Thread.currentThread().getThreadGroup();
    }

    /** Does nothing. */
    public final void checkAccess() {}

    /** The loader that was set, or inherited, which may be null; else the system's. */
    public ClassLoader getContextClassLoader() {
        Details d = details;
        if (d == null) {
            return ClassLoader.getSystemClassLoader();
        }
        Thread k = runtime == null ? d.kernel : null;
        if (k != null) {
            return k.getContextClassLoader();
        }
        Object l = d.loader;
        return l == Details.SYSTEM ? ClassLoader.getSystemClassLoader() : (ClassLoader) l;
    }

    /** Sets the loader; null is the JVM's own. */
    public void setContextClassLoader(ClassLoader loader) {
        Thread k = kernel();
        if (k != null) {
            k.setContextClassLoader(loader);
        }
        details().loader = loader;
    }

    /** What is told of an exception that it does not catch: its own handler, or the default one; null for none. */
    public UncaughtExceptionHandler getUncaughtExceptionHandler() {
        Details d = details;
        return d != null && d.handler != null ? d.handler : defaultHandler;
    }

    /** Sets the thread's own handler; null for none. */
    public void setUncaughtExceptionHandler(UncaughtExceptionHandler handler) {
        details().handler = handler;
    }

    /** The handler of threads that have none of their own; null: the exception is printed to {@code System.err}. */
    public static UncaughtExceptionHandler getDefaultUncaughtExceptionHandler() {
        return defaultHandler;
    }

    /** Sets the handler of threads that have none of their own. */
    public static void setDefaultUncaughtExceptionHandler(UncaughtExceptionHandler handler) {
        defaultHandler = handler;
    }

    /** The thread has thrown {@code error}: what it must do at the end; null for nothing (more). */
    final Runnable uncaught(Throwable error) {
        if (target instanceof Uncaught) {
            System.err.println("\nException: " + error.getClass().getName() + " thrown from the UncaughtExceptionHandler in thread \"" + getName() + "\"");
            return null;
        }
        UncaughtExceptionHandler h = getUncaughtExceptionHandler();
        if (h != null) {
            return new Uncaught(this, h, error);
        }
        report(this, error);
        return null;
    }

    /** Prints the exception that a thread has not caught, as the JVM does. */
    public static void report(PicoThread thread, Throwable error) {
        StringWriter text = new StringWriter();
        error.printStackTrace(new PrintWriter(text));
        System.err.print("Exception in thread \"" + thread.getName() + "\" " + text);
    }

    // ---- Looking at threads.

    /** The calls it is in; of a suspended thread those that are saved. Empty if it has not started or has ended. */
    public StackTraceElement[] getStackTrace() {
        return ThreadDump.trace(this);
    }

    /** The traces of the calling thread and of all live threads that block or have blocked. */
    public static Map<PicoThread, StackTraceElement[]> getAllStackTraces() {
        Map<PicoThread, StackTraceElement[]> all = new HashMap<>();
        for (PicoThread t : PicoRuntime.current().threads()) {
            all.put(t, t.getStackTrace());
        }
        PicoThread me = currentThread();
        all.put(me, me.getStackTrace());
        return all;
    }

    /** Prints the caller's trace to {@code System.err}. */
    public static void dumpStack() {
        StringBuilder text = new StringBuilder("java.lang.Exception: Stack trace\n");
        StackTraceElement[] trace = currentThread().getStackTrace();
        // The first is getStackTrace itself.
        for (int i = 1; i < trace.length; i++) {
            text.append("\tat ").append(trace[i]).append('\n');
        }
        System.err.print(text);
    }

    /** Whether the calling thread owns the monitor of {@code o}, as transformed code sees it. */
    public static boolean holdsLock(Object o) {
        return lamprey.instrument.Monitors.holdsLock(o);
    }

    /** About how many threads are alive. */
    public static int activeCount() {
        return PicoRuntime.current().threads().size();
    }

    /** Copies live threads into {@code into}, as many as fit; returns how many. */
    public static int enumerate(PicoThread[] into) {
        List<PicoThread> all = PicoRuntime.current().threads();
        int n = Math.min(all.size(), into.length);
        for (int i = 0; i < n; i++) {
            into[i] = all.get(i);
        }
        return n;
    }

    /** Resumes the coroutine; for its carrier. */
    final boolean resumeOn(lamprey.instrument.Execution e, Object value, Throwable error) throws Throwable {
        return resume(e, value, error);
    }

    /** The saved frames; for the dump. */
    final lamprey.instrument.Frame savedFrames() {
        return frames();
    }

    /** Whether this is its number, in digits. Gives it none. */
    final boolean isNumber(String digits) {
        Details d = details;
        if (d == null) {
            return false;
        }
        synchronized (d) {
            return d.id != 0 && digits.equals(Long.toString(d.id));
        }
    }

    /** Its name and number, as messages show them. */
    final String shown() {
        return Shown.quoted(getName()) + " #" + threadId();
    }

    /** Its name; null if it was given none. Makes up none. */
    final String givenName() {
        Details d = details;
        Thread k = d == null || runtime != null ? null : d.kernel;
        return d == null ? null : d.name == null && k != null ? k.getName() : d.name;
    }

    @Override
    public String toString() {
        return "Thread[#" + threadId() + "," + getName() + "," + priority + "]";
    }
}
