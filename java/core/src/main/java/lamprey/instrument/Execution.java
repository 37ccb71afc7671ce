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
    final Resume resume = new Resume();

    private static final ThreadLocal<Execution> OF_OTHERS = new ThreadLocal<>();

    /** Of a thread that is about to run coroutines. */
    public Execution() {}

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
     * @throws PinnedError if the coroutine is being suspended already: a method that is not transformed has caught the {@link Suspend}
     */
    public <T> T suspend(MethodInfo primitive) {
        checkInactive(primitive);
        suspend.begin(primitive);
        return unwind();
    }

    /** As {@link #suspend(MethodInfo)}, for the computation {@link #delimited()} instead of the running coroutine. */
    public <T> T suspendDelimited(MethodInfo primitive) {
        checkInactive(primitive);
        suspend.begin(primitive);
        suspend.delimited = true;
        return unwind();
    }

    /** As {@link #suspend(MethodInfo)}, for a hand-written method that goes on when the thread does: its frame is the innermost. */
    public <T> T suspend(Frame frame) {
        checkInactive(frame.method());
        suspend.begin(frame);
        return unwind();
    }

    private void checkInactive(MethodInfo method) {
        if (suspend.active) {
            throw suspend.refuse(method.toString(), "a blocking method after a suspension was caught");
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
