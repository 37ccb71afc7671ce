package lamprey.instrument;

/**
 * Surrounds static initialisers that may block. The JVM holds the lock of the class meanwhile, for the kernel thread, so the light thread cannot be suspended: if
 * it has to wait, its carrier waits with it. Called by generated code, always in pairs and on one kernel thread.
 */
public final class Initialiser {
    private Initialiser() {}

    /** A static initialiser begins. Never blocks. */
    public static void begin() {
        Thread t = Thread.currentThread();
        if (t instanceof CarrierThread) {
            ((CarrierThread) t).initialisers++;
        }
    }

    /** It ends. Never blocks. */
    public static void end() {
        Thread t = Thread.currentThread();
        if (t instanceof CarrierThread) {
            ((CarrierThread) t).initialisers--;
        }
    }
}
