package lamprey;

/** Makes light threads. As {@link java.util.concurrent.ThreadFactory}. */
@FunctionalInterface
public interface PicoThreadFactory {
    /** A thread that runs {@code task}, not started; null if it refuses. */
    PicoThread newThread(Runnable task);
}
