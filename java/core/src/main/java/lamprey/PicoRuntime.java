package lamprey;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import lamprey.instrument.Execution;
import lamprey.instrument.OtherMode;
import lamprey.instrument.RuntimeThread;
import lamprey.instrument.Sites;
import lamprey.instrument.Suspendable;

/**
 * Runs light threads: its carriers, their queues, the timers and the clock. Most programs use only {@link #standard()}, without naming it.
 *
 * <p><b>The end of a program.</b> Threads that are no daemons are counted where they start and where they end, without a common counter. All have ended when the sum of
 * the ends, read first, equals the sum of the starts, read after: neither ever decreases, and no thread ends before it starts.
 */
public final class PicoRuntime implements AutoCloseable {
    private static final AtomicInteger NUMBER = new AtomicInteger();

    /** How many have been made before, and one. */
    final int number = NUMBER.incrementAndGet();
    /** The stack that kernel threads have on most systems. */
    private static final long USUAL_STACK = 1 << 20;

    final Backend backend;
    /** How many frames a suspended thread may have. */
    final int maxDepth;
    /** Whether {@link Standstill} may end it. */
    final boolean deadlocks;
    /** For how long a carrier may be held until that is told, in nanoseconds. */
    final long stuckAfter;
    final Crew crew;
    final Inbox inbox = new Inbox();
    final Timers timers = new Timers();
    final Registry registry = new Registry();
    final Idlers idlers = new Idlers(this);
    final VirtualClock virtual;
    volatile IoSource io;
    volatile boolean stopped;

    private final AtomicBoolean inIo = new AtomicBoolean();
    private final AtomicLong startedOutside = new AtomicLong();
    private final AtomicLong endedOutside = new AtomicLong();
    /** Kernel threads that have counted a thread and not yet made it ready: no deadlock. */
    private final AtomicInteger starting = new AtomicInteger();
    private final AtomicInteger external = new AtomicInteger();
    private final Object endLock = new Object();
    private volatile boolean endAwaited;
    private volatile boolean kept;
    private volatile Throwable fault;
    /** A thread of the program waits for the end, and gets the fault. */
    private volatile boolean faultIsThrown;

    /** The one that is made when it is first used. */
    private static final class Standard {
        static final PicoRuntime RUNTIME;
        /** Why there is none: thrown by each call, where an error of this initialiser would hide it. */
        static final RuntimeException REFUSED;

        static {
            PicoRuntime made = null;
            RuntimeException refused = null;
            try {
                made = Settings.apply(builder()).build();
                String signal = System.getProperty("lamprey.dump");
                if (signal != null) {
                    DumpSignal.install(signal, made);
                }
                Settings.serve();
            } catch (RuntimeException e) {
                refused = e;
            }
            RUNTIME = made;
            REFUSED = refused;
        }
    }

    private PicoRuntime(Builder b) {
        backend = b.backend;
        virtual = b.simulated ? new VirtualClock() : null;
        maxDepth = b.maxDepth;
        deadlocks = b.deadlocks;
        stuckAfter = b.stuckAfter;
        ReadyQueue[] queues = new ReadyQueue[backend == Backend.COROUTINES ? b.carriers : 0];
        for (int i = 0; i < queues.length; i++) {
            queues[i] = queue(b);
        }
        // A simulation has one carrier, whatever happens: the seed alone decides.
        crew = new Crew(this, queues, b.simulated ? 0 : b.extraCarriers, "lamprey-" + number + "-");
        crew.start();
        Inspect.register(this);
    }

    private ReadyQueue queue(Builder b) {
        if (b.scheduler == null) {
            return b.carriers == 1 ? new ReadyQueue.OwnFifo() : new RingQueue(this);
        }
        Scheduler policy = b.scheduler.get();
        return b.carriers == 1 ? new ReadyQueue.Own(policy) : new ReadyQueue.Locked(this, policy);
    }

    // ---- Making.

    /** A builder. */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * A deterministic one: a single carrier, a random order that depends only on {@code seed}, and a clock that stands still while a thread is ready (but for
     * a microsecond a step) and then jumps to the next timer. A deadlock is found and reported. What it runs must be transformed, or its threads would be kernel threads,
     * that no seed decides about: {@link #call} looks at that.
     */
    public static PicoRuntime simulated(long seed) {
        return builder().carriers(1).scheduler(Schedulers.random(seed)).simulated().build();
    }

    /**
     * The one for threads that are started elsewhere than in another. System properties: {@code lamprey.carriers} (default: the processors), {@code lamprey.scheduler} (fifo,
     * lifo, random, priority), {@code lamprey.backend} (coroutines, virtual, platform), {@code lamprey.simulate} (a seed), {@code lamprey.dump} (a signal, such as URG, at
     * which {@link #dump} is printed), {@code lamprey.extraCarriers} ({@link Builder#extraCarriers}), {@code lamprey.maxDepth} ({@link Builder#maxDepth}).
     *
     * @throws RuntimeException if a property has a wrong value, or there is no property of that name
     */
    public static PicoRuntime standard() {
        if (Standard.REFUSED != null) {
            throw Standard.REFUSED;
        }
        return Standard.RUNTIME;
    }

    /** Of the calling thread; {@link #standard()} if it has none. */
    public static PicoRuntime current() {
        PicoRuntime r = PicoThread.currentThread().runtime;
        return r == null ? standard() : r;
    }

    /** Whether the calling thread is one of a runtime, not a kernel thread of the program's own. */
    public static boolean runsCaller() {
        return PicoThread.currentThread().runtime != null;
    }

    /** What a runtime is made of. */
    public static final class Builder {
        private int carriers = Runtime.getRuntime().availableProcessors();
        private Supplier<Scheduler> scheduler;
        private Backend backend = Backend.COROUTINES;
        private boolean simulated;
        private int extraCarriers = 256;
        private int maxDepth = Execution.MAX_DEPTH;
        private boolean deadlocks = Settings.deadlocks();
        private long stuckAfter = Settings.stuckAfter();

        private Builder() {}

        /** How many kernel threads run light threads. */
        public Builder carriers(int n) {
            if (n < 1 || n > 1024) {
                throw new IllegalArgumentException(n + " carriers; there must be between 1 and 1024");
            }
            carriers = n;
            return this;
        }

        /**
         * How many carriers may be added while others are held by code that is not transformed, and waits there: 256 if this is not called. 0: none, so if all are held nothing
         * runs until one comes back. One is added when no carrier is left that could run what is ready; the one that was held ends when it comes back. A simulation adds none.
         */
        public Builder extraCarriers(int n) {
            if (n < 0 || n > 10_000) {
                throw new IllegalArgumentException(n + " extra carriers; there may be between 0 and 10000");
            }
            extraCarriers = n;
            return this;
        }

        /**
         * How many calls deep a thread may be suspended: about so; 100000 if this is not called. A blocking call that is deeper throws a {@link StackOverflowError}. (Calls that do
         * not suspend use the carrier's stack, whose size is that of the JVM, {@code -Xss}.)
         */
        public Builder maxDepth(int n) {
            if (n < 100) {
                throw new IllegalArgumentException("a depth of " + n + "; it must be 100 at least");
            }
            maxDepth = n;
            return this;
        }

        /**
         * Whether a deadlock is noticed: true if this is not called, and {@code -Dlamprey.deadlocks=off} is not given. When all threads of all runtimes wait, and nothing is under way in
         * the process that could wake one, the runtime prints who waits for what, and stops: {@link #call} throws a {@link DeadlockError}. That is so while nothing is waited for that comes
         * from outside (a time, a socket, a name server, a call of {@link Blocking}), and there is no kernel thread but those of the JVM, of this library, and those that wait in one of its
         * calls. False says that a wake may come from where nobody sees it: from code in C that attaches itself to the JVM, a handler of a signal, a finalizer, a hook that a library has registered for
         * the end. One such runtime is enough. {@link #external} says it for a time. The back-ends {@link Backend#VIRTUAL} and {@link Backend#PLATFORM} notice none.
         */
        public Builder deadlocks(boolean noticed) {
            deadlocks = noticed;
            return this;
        }

        /**
         * How long a thread may hold its carrier, while others are ready that wait for it, until that is told on {@code System.err}: who, where, and what to do. 100 milliseconds if this is not
         * called and {@code -Dlamprey.stuckAfter=..} (in milliseconds, or {@code off}) is not given. Each place is told once. It is looked at ten times a second.
         */
        public Builder stuckAfter(long time, TimeUnit unit) {
            if (time < 0) {
                throw new IllegalArgumentException(time + " " + unit + "; a time cannot be negative");
            }
            stuckAfter = unit.toNanos(time);
            return this;
        }

        /** The policy; asked once for each carrier. FIFO if none is set. */
        public Builder scheduler(Supplier<Scheduler> policy) {
            scheduler = policy;
            return this;
        }

        /**
         * What runs the threads.
         *
         * @throws UnsupportedOperationException if this JDK has no virtual threads
         */
        public Builder backend(Backend backend) {
            if (backend == Backend.VIRTUAL && !KernelThreads.haveVirtual()) {
                throw new UnsupportedOperationException("this JVM (" + System.getProperty("java.version")
                    + ") has no virtual threads; use the back-end \"coroutines\" or \"platform\", or JDK 21 or later");
            }
            this.backend = backend;
            return this;
        }

        Builder simulated() {
            simulated = true;
            return this;
        }

        /** Makes it, and starts its carriers. */
        public PicoRuntime build() {
            if (simulated && backend != Backend.COROUTINES) {
                throw new IllegalArgumentException("simulation needs the back-end \"coroutines\"");
            }
            return new PicoRuntime(this);
        }
    }

    // ---- Running.

    /** A computation with a result. */
    @FunctionalInterface
    public interface Body<T> {
        /** The computation; may block. */
        @Suspendable
        T run() throws Exception;
    }

    /** Runs {@code main} as {@link #call} does. */
    public void run(Runnable main) {
        OtherMode.refuse(main);
        if (virtual != null) {
            Untransformed.refuse(main);
        }
        try {
            call(new MainBody.OfRunnable(main));
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw Parking.<RuntimeException>sneak(e);
        }
    }

    /**
     * Runs {@code main} as a light thread, waits until all threads that are no daemons have ended, and returns its result, or throws what it has thrown. Blocks the
     * caller, a kernel thread or a light thread of another runtime.
     *
     * @throws DeadlockError if no thread can ever go on: see {@link Builder#deadlocks}
     * @throws IllegalStateException if called by a light thread of this runtime, or after {@link #close()}; if the class of {@code main} has been
     *     transformed for the other mode; in a simulation also if it has not been transformed
     */
    public <T> T call(Body<T> main) throws Exception {
        OtherMode.refuse(main);
        if (virtual != null) {
            Untransformed.refuse(main);
        }
        MainBody<T> body = new MainBody<>(main);
        PicoThread t = new PicoThread(null, body, "main");
        t.daemon = false;
        runToEnd(t);
        return body.result();
    }

    /** Starts {@code t} and waits until all threads that are no daemons have ended. Blocks the caller, a kernel thread or a light thread of another runtime. */
    public void runToEnd(PicoThread t) {
        Carrier carrier = Carrier.running();
        if (carrier == null) {
            startAndWait(t);
        } else if (carrier.runtime == this) {
            throw new IllegalStateException("a light thread cannot wait for the end of its own runtime; it starts others with PicoThread.start");
        } else {
            try {
                Blocking.call(() -> {
                    startAndWait(t);
                    return null;
                });
            } catch (Exception e) {
                throw Parking.<RuntimeException>sneak(e);
            }
        }
    }

    private void startAndWait(PicoThread t) {
        // The caller keeps the JVM alive meanwhile.
        boolean keeper = !kept;
        kept = true;
        try {
            start(t);
            awaitEnd();
        } finally {
            if (keeper) {
                kept = false;
                if (!quiescent() && !stopped) {
                    keepAlive();
                }
            }
        }
    }

    /** Starts a thread that runs {@code task}. Does not block. */
    public PicoThread start(Runnable task) {
        PicoThread t = new PicoThread(task);
        start(t);
        return t;
    }

    /**
     * Starts {@code t} in this runtime. Does not block.
     *
     * @throws IllegalThreadStateException if it has been started
     */
    public void start(PicoThread t) {
        Carrier c = Carrier.running();
        if (c != null && c.runtime == this) {
            startFrom(c, t);
        } else {
            startFromOutside(t);
        }
    }

    private void startFromOutside(PicoThread t) {
        begin(t);
        starting.incrementAndGet();
        if (!t.daemon) {
            startedOutside.incrementAndGet();
            keepAlive();
        }
        try {
            if (backend == Backend.COROUTINES && !needsStack(t)) {
                ready(t);
            } else {
                startOnKernel(t);
            }
        } finally {
            starting.decrementAndGet();
            lookAgain();
        }
    }

    /** In a simulation: nothing is expected from outside any more, so an idle carrier need not wait for the real time. */
    private void lookAgain() {
        if (virtual != null) {
            idlers.wakeAll();
        }
    }

    void startFrom(Carrier c, PicoThread t) {
        if (t.details != null && needsStack(t)) {
            startFromOutside(t);
            return;
        }
        begin(t);
        if (!t.daemon) {
            c.countStart();
            if (!kept) {
                keepAlive();
            }
        }
        c.queue.ready(t);
    }

    /** Whether the program has asked for a stack that a carrier does not have: a kernel thread of its own runs it. Not in a simulation, which has one. */
    private boolean needsStack(PicoThread t) {
        return t.stackSize() > USUAL_STACK && virtual == null;
    }

    private void begin(PicoThread t) {
        if (stopped) {
            throw new IllegalStateException("the runtime has been closed" + (fault == null ? "" : " because of " + fault));
        }
        for (;;) {
            int s = t.state;
            if ((s & LightThread.STARTED) != 0) {
                throw new IllegalThreadStateException(t + " has been started already; a thread runs once");
            }
            if (LightThread.STATE.compareAndSet(t, s, s | LightThread.STARTED)) {
                break;
            }
        }
        if (Sites.ON) {
            t.details().site = Sites.here();
        }
        t.runtime = this;
    }

    private void startOnKernel(PicoThread t) {
        registry.add(t);
        Runnable body = () -> runOnKernel(t);
        boolean started = false;
        try {
            if (backend == Backend.VIRTUAL && !needsStack(t)) {
                KernelThreads.startVirtual(t, body);
            } else {
                KernelThreads.startPlatform(t, body);
            }
            started = true;
        } finally {
            if (!started) {
                // The system has no more threads.
                ended(t);
            }
        }
    }

    /** A kernel thread, not started, that will run {@code t}, which has not been started, whatever the back-end is. The runtime does not wait for its end. */
    public Thread onKernel(PicoThread t) {
        return KernelThreads.unstarted(t, () -> {
            t.daemon = true;
            t.runtime = this;
            t.details().kernel = Thread.currentThread();
            LightThread.STATE.getAndUpdate(t, s -> s | LightThread.STARTED);
            registry.add(t);
            runOnKernel(t);
        });
    }

    private void runOnKernel(PicoThread t) {
        try {
            if ((t.state & LightThread.INTERRUPTED) != 0) {
                Thread.currentThread().interrupt();
            }
            try {
                t.body();
            } catch (Throwable e) {
                t.target = t.uncaught(e);
                if (t.target != null) {
                    t.target.run();
                }
            }
        } catch (Throwable e) {
            // A handler has thrown: reported as the JVM does.
            t.uncaught(e);
        } finally {
            ended(t);
        }
    }

    private void ended(PicoThread t) {
        registry.remove(t);
        t.end();
        if (!t.daemon) {
            endedOutside.incrementAndGet();
            checkEnd();
        }
    }

    /** Makes {@code t} ready. From any thread. */
    void ready(PicoThread t) {
        Thread k = Thread.currentThread();
        if (k instanceof Carrier && ((Carrier) k).runtime == this) {
            ((Carrier) k).queue.ready(t);
        } else {
            readyFromOutside(t);
        }
    }

    void readyFromOutside(PicoThread t) {
        inbox.add(t);
        idlers.workCame();
    }

    // ---- The end.

    /** Whether all threads that are no daemons have ended. */
    boolean quiescent() {
        long ended = endedOutside.get() + crew.ended();
        long started = startedOutside.get() + crew.started();
        return started == ended;
    }

    /** Wakes those that wait for the end, if it has come. */
    void checkEnd() {
        if (endAwaited && quiescent()) {
            synchronized (endLock) {
                endLock.notifyAll();
            }
        }
    }

    /**
     * Waits until all threads that are no daemons have ended. For kernel threads; blocks the caller. An interrupt stays set, and does not end the wait.
     *
     * @throws DeadlockError if no thread can ever go on: see {@link Builder#deadlocks}
     */
    public void awaitEnd() {
        faultIsThrown = true;
        awaitEndOrFault();
    }

    private void awaitEndOrFault() {
        boolean interrupted = false;
        endAwaited = true;
        Standstill.waitsForTheEnd(true);
        try {
            synchronized (endLock) {
                while (!quiescent() && !stopped) {
                    try {
                        endLock.wait();
                    } catch (InterruptedException e) {
                        interrupted = true;
                    }
                }
            }
        } finally {
            Standstill.waitsForTheEnd(false);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        Throwable f = fault;
        if (f != null) {
            throw Parking.<RuntimeException>sneak(f);
        }
    }

    /** The JVM ends when no kernel thread is left that is no daemon, so one waits while there are light threads that are none. */
    private void keepAlive() {
        synchronized (endLock) {
            if (kept) {
                return;
            }
            kept = true;
        }
        Thread t = new RuntimeThread(() -> {
            for (boolean again = true; again;) {
                try {
                    awaitEndOrFault();
                } catch (Throwable e) {
                    if (!faultIsThrown && !(e instanceof DeadlockError && virtual == null)) {
                        e.printStackTrace();
                    }
                    return;
                }
                synchronized (endLock) {
                    kept = false;
                    again = !quiescent() && !stopped;
                    kept = again;
                }
            }
        }, "lamprey-until-the-end");
        t.setDaemon(false);
        t.start();
    }

    /** Stops the carriers; threads that have not ended do not go on, and who waits for the end of one that was blocked gets an exception. Does not wait. */
    public void shutdown() {
        stopped = true;
        idlers.wakeAll();
        loseAll();
        endAll();
    }

    /** Wakes those that wait for the end. Needs no memory. */
    private void endAll() {
        synchronized (endLock) {
            endLock.notifyAll();
        }
    }

    /** Tells who waits for the end of a blocked thread that there will be none. Also called by each carrier at its end, for the threads that have blocked since. */
    void loseAll() {
        for (PicoThread t : threads()) {
            t.lost(fault);
        }
    }

    /** A ready thread that does not run any more. */
    void lost(PicoThread t) {
        t.lost(fault);
    }

    /** As {@link #shutdown()}. */
    @Override
    public void close() {
        shutdown();
    }

    /** A carrier cannot go on. Its report is whole before anybody who waits for the runtime hears of the fault. */
    void broken(Throwable e) {
        try {
            if (!(e instanceof DeadlockError)) {
                System.err.print("lamprey: a carrier has failed, the runtime stops: ");
                e.printStackTrace();
            }
        } finally {
            fault = e;
            stopped = true;
            stopAll();
        }
    }

    private void stopAll() {
        try {
            shutdown();
        } finally {
            // There may be no memory left to tell anybody; but those that keep the JVM alive must end.
            endAll();
        }
    }

    // ---- Time.

    /** The runtime's clock, in nanoseconds from some moment on; virtual in a simulation. */
    long now() {
        return virtual != null ? virtual.nanos() : System.nanoTime();
    }

    /** The moment {@code nanos} from now; far in the future rather than overflowing. */
    long deadline(long nanos) {
        long now = now();
        long d = now + nanos;
        return d < now ? Long.MAX_VALUE - 1 : d;
    }

    void start(Timer t) {
        if (timers.add(t)) {
            idlers.firstTimerCame();
        }
    }

    void expire() {
        if (timers.earliest() != Long.MAX_VALUE) {
            timers.expire(now());
        }
    }

    /** As {@link System#nanoTime()}, in a simulation of the virtual clock. */
    public static long nanoTime() {
        Carrier c = Carrier.running();
        return c == null || c.runtime.virtual == null ? System.nanoTime() : c.runtime.virtual.read();
    }

    /**
     * The moment {@code nanos} from now by {@link #nanoTime()}: now if they are negative. What is left until then is the difference to {@code nanoTime()},
     * which is right for all numbers of nanoseconds, also beyond the range of the clock.
     */
    public static long moment(long nanos) {
        return nanoTime() + Math.max(nanos, 0);
    }

    /** Milliseconds and nanoseconds, neither negative, in nanoseconds; {@link Long#MAX_VALUE} for more than there are. */
    public static long nanos(long millis, int nanos) {
        long all = TimeUnit.MILLISECONDS.toNanos(millis);
        return all > Long.MAX_VALUE - nanos ? Long.MAX_VALUE : all + nanos;
    }

    /** How many nanoseconds are left until {@code millis} by {@link #currentTimeMillis()}: 0 if that has passed. */
    public static long nanosUntil(long millis) {
        long now = currentTimeMillis();
        return millis <= now ? 0 : TimeUnit.MILLISECONDS.toNanos(millis - now);
    }

    /** As {@link System#currentTimeMillis()}, in a simulation of the virtual clock. */
    public static long currentTimeMillis() {
        Carrier c = Carrier.running();
        return c == null || c.runtime.virtual == null ? System.currentTimeMillis() : TimeUnit.NANOSECONDS.toMillis(c.runtime.virtual.read());
    }

    /** Whether the calling thread's clock is virtual. */
    public static boolean isTimeVirtual() {
        Carrier c = Carrier.running();
        return c != null && c.runtime.virtual != null;
    }

    /** A thread is about to run. */
    void step() {
        if (virtual != null) {
            virtual.step();
        }
    }

    // ---- I/O and other things that come from outside.

    /** Whether anything is under way that may make a thread ready, but for running threads. */
    boolean expectsSomething() {
        IoSource s = io;
        return starting.get() > 0 || external.get() > 0 || timers.earliest() != Long.MAX_VALUE || !inbox.isEmpty() || s != null && s.isWaitedFor();
    }

    /** Sets the source of I/O that an idle carrier waits in. Once. */
    public synchronized void io(IoSource source) {
        if (io != null && io != source) {
            throw new IllegalStateException("this runtime has a source of I/O already: " + io);
        }
        io = source;
        idlers.wakeAll();
    }

    boolean enterIo() {
        return inIo.compareAndSet(false, true);
    }

    void leaveIo() {
        inIo.set(false);
    }

    /** So many more, or fewer, wakes of threads of this runtime will come from outside: it is no deadlock to wait for them. From any thread. */
    public void external(int change) {
        external.addAndGet(change);
        if (change < 0) {
            lookAgain();
        }
    }

    /**
     * A carrier has nothing to do. In a simulation the clock jumps.
     *
     * @return whether there may be something to do now
     */
    boolean idle() {
        checkEnd();
        if (virtual == null) {
            return false;
        }
        if (starting.get() > 0 || !inbox.isEmpty()) {
            return false;
        }
        long first = timers.earliest();
        IoSource s = io;
        if (external.get() > 0 || s != null && s.isWaitedFor()) {
            virtual.follow();
            return first <= virtual.nanos();
        }
        virtual.unfollow();
        if (first != Long.MAX_VALUE) {
            virtual.jump(first);
            return true;
        }
        // Once more, after the counts: a thread that has been started, or woken, from outside since the first look is in the inbox.
        if (!quiescent() && starting.get() == 0 && external.get() == 0 && inbox.isEmpty()) {
            broken(DeadlockError.ofSimulation(dump()));
        }
        return stopped;
    }

    // ---- Looking at it.

    /** The live threads that block or have blocked. */
    public List<PicoThread> threads() {
        return registry.threads();
    }

    /** How many carriers it has, without those that are added while others are held; 0 with a back-end that has none. */
    public int carriers() {
        return crew.queues.length;
    }

    /** What runs its threads. */
    public Backend backend() {
        return backend;
    }

    /** All threads, with what each waits for, and where. */
    public String dump() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(bytes);
        ThreadDump.print(this, out);
        out.flush();
        return bytes.toString();
    }

    /** Prints {@link #dump()}. */
    public void dump(PrintStream out) {
        ThreadDump.print(this, out);
    }
}
