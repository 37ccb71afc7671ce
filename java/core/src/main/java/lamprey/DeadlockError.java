package lamprey;

/** In a simulation: threads that are no daemons are left, none is ready, and nothing will wake one. The message is the dump. */
public final class DeadlockError extends Error {
    private static final long serialVersionUID = 1;

    DeadlockError(String dump) {
        super("deadlock: no thread can go on\n" + dump);
    }
}
