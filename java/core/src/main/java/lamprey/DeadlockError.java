package lamprey;

/**
 * Threads that are no daemons are left, and none can ever go on. In a simulation the message is the dump. Else the report has been printed on {@code System.err}; the message is
 * its first line. See {@link PicoRuntime.Builder#deadlocks}.
 */
public final class DeadlockError extends Error {
    private static final long serialVersionUID = 1;
    private final String report;

    private DeadlockError(String message, String report, boolean trace) {
        super(message, null, true, trace);
        this.report = report;
    }

    static DeadlockError ofSimulation(String dump) {
        return new DeadlockError("deadlock: no thread can go on\n" + dump, dump, true);
    }

    /** Without a trace: that of the thread that has looked would say nothing. */
    static DeadlockError of(String message, String report) {
        return new DeadlockError(message, report, false);
    }

    /** Who waits for what, and where. */
    public String report() {
        return report;
    }
}
