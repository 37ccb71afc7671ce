package lamprey.instrument;

/**
 * What suspending and resuming need of the kernel thread they happen on: which coroutine runs, and the objects that are used again for each
 * suspension. One for each kernel thread that runs coroutines; only that thread touches it.
 */
public final class Execution {
    /** The coroutine that runs on this kernel thread; null if none does. */
    Coroutine current;
    /** The innermost computation that runs inside of it by {@link Coroutine#resumeWithin}; null if none does. */
    Coroutine delimited;
    final Suspend suspend = new Suspend(this);
    /** Of the run, or of the unwinding, that is innermost. */
    Resume resume = new Resume();
    /** The frame of a failed suspension that an error is leaving ({@link Unwinding}): the thread cannot be suspended. Null if there is none. */
    Frame unwound;
    /** The value of {@link #delimited} as that began: computations inside that are newer can suspend themselves. */
    Coroutine unwindingIn;

    /** How many frames a suspended computation may have, if the program has not said. */
    public static final int MAX_DEPTH = 100_000;
    /** About how many saved frames there are between two looks at the depth. */
    private static final int LOOK = 4096;

    private int maxDepth = MAX_DEPTH;
    /** The next look is due when so many frames have been saved: see {@link Suspend#saved}. */
    int nextLook = LOOK;
    /** The state of the random numbers that say when; the same in each run. */
    private int random = 1;

    private static final ThreadLocal<Execution> OF_OTHERS = new ThreadLocal<>();

    static {
        // A thread may have hardly any stack left when it needs these first; the JVM never tries again to initialise a class.
        Class<?>[] needed = {Built.class, OtherMode.class, Lambdas.class, Suspend.class, Unwinding.class, Traces.class, PinnedError.class, Resume.class, Site.class, MethodInfo.class, Coroutine.class};
        for (Class<?> c : needed) {
            try {
                Class.forName(c.getName(), true, c.getClassLoader());
            } catch (ClassNotFoundException e) {
                throw new LinkageError(c.getName(), e);
            }
        }
    }

    /** Of a thread that is about to run coroutines. */
    public Execution() {}

    /** How many frames a suspended computation may have: about so, see {@link #isTooDeep}. */
    public void setMaxDepth(int frames) {
        maxDepth = frames;
        nextLook = suspend.saved + Math.min(LOOK, frames);
    }

    /**
     * Whether a computation that has been suspended is deeper than it may be. Counting the frames takes time, and a counter in each thread would take memory. So the frames that this kernel thread saves are
     * counted, and after some thousands, at random, those of the computation that is just being suspended: who goes ever deeper saves frames, and is met soon. Where frames are many, it looks more
     * seldom, so that a saved frame costs the counting of about one.
     */
    boolean isTooDeep(Frame innermost) {
        int n = 0;
        for (Frame f = innermost; f != null && n <= maxDepth; f = f.caller) {
            n++;
        }
        random ^= random << 13;
        random ^= random >>> 17;
        random ^= random << 5;
        int mean = Math.max(Math.min(LOOK, Math.max(maxDepth / 4, 16)), n);
        nextLook = suspend.saved + 1 + (random >>> 1) % (2 * mean);
        return n > maxDepth;
    }

    /** Of the calling kernel thread; null if it never ran a coroutine. */
    public static Execution current() {
        Thread t = Thread.currentThread();
        return t instanceof CarrierThread ? ((CarrierThread) t).execution : OF_OTHERS.get();
    }

    /** Of the calling kernel thread. */
    public static Execution currentOrNew() {
        Execution e = current();
        if (e == null) {
            e = new Execution();
            OF_OTHERS.set(e);
        }
        return e;
    }

    /** The coroutine that runs on this kernel thread; null if none does. */
    public Coroutine running() {
        return current;
    }

    /**
     * Suspends the running coroutine. For {@link Primitive} methods, which must return at once what this returns, if it returns at all: the call
     * of the primitive returns, later, what {@link Coroutine#resume()} was told to deliver.
     *
     * @throws PinnedError if the coroutine is being suspended already: a method that is not transformed has caught the {@link Suspend}; or if that has
     *     failed, and its frames are being unwound
     */
    public <T> T suspend(MethodInfo primitive) {
        check(primitive, unwound != null);
        suspend.begin(primitive);
        return unwind();
    }

    /** As {@link #suspend(MethodInfo)}, for the computation {@link #delimited()} instead of the running coroutine. */
    public <T> T suspendDelimited(MethodInfo primitive) {
        check(primitive, unwound != null && delimited == unwindingIn);
        suspend.begin(primitive);
        suspend.delimited = true;
        return unwind();
    }

    /** As {@link #suspend(MethodInfo)}, for a hand-written method that goes on when the thread does: its frame is the innermost. */
    public <T> T suspend(Frame frame) {
        check(frame.method(), unwound != null);
        suspend.begin(frame);
        return unwind();
    }

    private void check(MethodInfo method, boolean impossible) {
        if (suspend.active) {
            throw suspend.swallowed(null, method + " was called");
        }
        if (impossible) {
            throw suspend.refuseNext(method);
        }
    }

    private <T> T unwind() {
        if (Built.WITH_FLAGS) {
            return null;
        }
        throw suspend;
    }

    /** The innermost computation that {@link Coroutine#resumeWithin} runs on this kernel thread; null if there is none. */
    public Coroutine delimited() {
        return delimited;
    }

    /** Whether the last suspension on this kernel thread was one by {@link #suspendDelimited}. */
    public boolean suspendedDelimited() {
        return suspend.delimited;
    }

    /** With flags: whether the thread is being suspended, so that the caller must save its frame and return. Called by generated code. */
    public static Suspend unwinding() {
        Thread t = Thread.currentThread();
        // Few steps, as it stands behind each call.
        Suspend s = t instanceof CarrierThread ? ((CarrierThread) t).suspend : ofOthers();
        return s != null && s.active ? s : null;
    }

    private static Suspend ofOthers() {
        Execution e = OF_OTHERS.get();
        return e == null ? null : e.suspend;
    }
}
