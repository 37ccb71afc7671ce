package lamprey.instrument;

/** A kernel thread that runs coroutines: finds its {@link Execution} without a thread-local variable. */
public class CarrierThread extends Thread {
    final Execution execution = new Execution();
    /** How many static initialisers run on it, one within the other; of those that may block. */
    int initialisers;
    final Suspend suspend = execution.suspend;

    /** A thread that runs {@code target}. */
    public CarrierThread(Runnable target, String name) {
        super(target, name);
    }

    /** Its execution. */
    public final Execution execution() {
        return execution;
    }

    /** Whether a static initialiser runs on it, so that nothing can be suspended. */
    protected final boolean initialises() {
        return initialisers > 0;
    }
}
