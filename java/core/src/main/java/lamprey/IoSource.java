package lamprey;

/** Where readiness of I/O comes from, for example a selector. An idle carrier waits in it instead of parking. Only one carrier is in it at a time. */
public interface IoSource {
    /**
     * Waits until something is ready, {@link #wakeup()} is called or was called since the last poll, or the time is over, and completes the {@link Blocker}s of
     * what is ready. Must not throw.
     *
     * @param nanos 0: does not wait; {@link Long#MAX_VALUE}: no limit
     */
    void poll(long nanos);

    /** Ends the current or the next {@link #poll}. From any thread. */
    void wakeup();

    /** Whether any thread waits for I/O: a runtime with none, and nothing else to do, is deadlocked. */
    boolean isWaitedFor();
}
