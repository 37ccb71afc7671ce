package lamprey;

/** What runs the threads of a {@link PicoRuntime}. */
public enum Backend {
    /** Coroutines, made by class transformation, on carriers. */
    COROUTINES,
    /** Virtual threads of the JVM, which has them from JDK 21 on. */
    VIRTUAL,
    /** A kernel thread for each. */
    PLATFORM
}
