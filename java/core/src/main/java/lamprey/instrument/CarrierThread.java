package lamprey.instrument;

/** A kernel thread that runs coroutines: finds its {@link Execution} without a thread-local variable. */
public class CarrierThread extends Thread {
    final Execution execution = new Execution();
    final Suspend suspend = execution.suspend;

    /** A thread that runs {@code target}. */
    public CarrierThread(Runnable target, String name) {
        super(target, name);
    }

    /** Its execution. */
    public final Execution execution() {
        return execution;
    }
}
