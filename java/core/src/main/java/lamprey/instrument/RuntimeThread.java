package lamprey.instrument;

/**
 * A kernel thread of this library that is no carrier. What it may wake is known from elsewhere (a call that is under way, a socket that is waited for), so it alone is no reason to
 * expect anything: see {@code lamprey.Standstill}.
 */
public final class RuntimeThread extends Thread {
    /** A daemon, without the context class loader of a program. */
    public RuntimeThread(Runnable body, String name) {
        super(body, name);
        setDaemon(true);
        setContextClassLoader(null);
    }
}
