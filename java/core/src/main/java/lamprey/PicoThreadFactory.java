package lamprey;

import lamprey.instrument.Suspendable;

/** Makes light threads. As {@link java.util.concurrent.ThreadFactory}. */
@FunctionalInterface
public interface PicoThreadFactory {
    /** A thread that runs {@code task}, not started; null if it refuses. May block. */
    @Suspendable
    PicoThread newThread(Runnable task);
}
