package lamprey.event;

/** Waiting for a step that another kernel thread is about to finish. */
public final class Backoff {
    private static final int SPINS = 50;

    private Backoff() {}

    /** Called with 0, 1, 2.. until the step has been made. Blocks the kernel thread for a moment, never longer. */
    public static void pause(int spins) {
        if (spins >= SPINS) {
            // The other kernel thread may have been preempted in the middle of the step.
            Thread.yield();
        }
    }
}
