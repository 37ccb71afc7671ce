package lamprey.instrument;

/**
 * A kernel thread of this library that is no carrier. What it may wake is known from elsewhere (a call that is under way, a socket that is waited for), so it alone is no reason to
 * expect anything: see {@code lamprey.Standstill}.
 */
public final class RuntimeThread extends Thread {
    /** The group of the threads of endpoints, and of what these start: they wake nobody. */
    private static final class Served {
        static final ThreadGroup GROUP = make();

        private static ThreadGroup make() {
            ThreadGroup root = Thread.currentThread().getThreadGroup();
            while (root.getParent() != null) {
                root = root.getParent();
            }
            return new ThreadGroup(root, "lamprey-inspect");
        }
    }

    /** The group of threads that serve those who look at the program, and wake nobody. */
    public static ThreadGroup served() {
        return Served.GROUP;
    }

    /** As the other, in a group. */
    public RuntimeThread(ThreadGroup group, Runnable body, String name) {
        super(group, body, name);
        setDaemon(true);
        setContextClassLoader(null);
    }

    /** A daemon, without the context class loader of a program. */
    public RuntimeThread(Runnable body, String name) {
        super(body, name);
        setDaemon(true);
        setContextClassLoader(null);
    }
}
