package lamprey.instrument;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import lamprey.PicoRuntime;
import lamprey.PicoThread;

/** The beginning and the end of a transformed program. Called by generated code. */
public final class Main {
    private static final Map<PicoThread, Thread> HOOKS = new ConcurrentHashMap<>();

    private Main() {}

    /** Whether a light thread is to run when the JVM is ended: who has registered one expects that. */
    public static boolean hasHooks() {
        return !HOOKS.isEmpty();
    }

    /**
     * Runs the program's {@code main} as the first light thread of {@link PicoRuntime#standard()}, and returns when all threads that are no daemons have ended. An exception that
     * main throws is reported at once, as that of any thread; at the end the exit code is 1, or, if other code than the JVM has called main, it is thrown.
     */
    public static void run(Runnable main) {
        OtherMode.refuse(main);
        PicoRuntime runtime = PicoRuntime.standard();
        PicoThread t = new PicoThread(null, main, "main");
        t.setDaemon(false);
        Throwable[] thrown = new Throwable[1];
        t.setUncaughtExceptionHandler((thread, error) -> {
            thrown[0] = error;
            PicoThread.UncaughtExceptionHandler h = PicoThread.getDefaultUncaughtExceptionHandler();
            if (h != null) {
                h.uncaughtException(thread, error);
            } else {
                PicoThread.report(thread, error);
            }
        });
        try {
            runtime.runToEnd(t);
        } catch (Throwable e) {
            // A deadlock in a simulation, say.
            if (isCalledByJvm()) {
                PicoThread.report(t, e);
            }
            thrown[0] = e;
        }
        if (thrown[0] != null) {
            if (isCalledByJvm()) {
                System.out.flush();
                exit();
            }
            Main.<RuntimeException>rethrow(thrown[0]);
        }
    }

    /** Whether {@code main} has been called by a light thread, as by a program that starts others: then it just runs. Never blocks. */
    public static boolean isRunning() {
        return PicoRuntime.runsCaller();
    }

    /** Whether the program's main was called by nobody else: then there is only this class, and main, on the stack. */
    private static boolean isCalledByJvm() {
        return new Throwable().getStackTrace().length == 3;
    }

    private static void exit() {
        System.exit(1);
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void rethrow(Throwable e) throws E {
        throw (E) e;
    }

    /** As {@link Runtime#addShutdownHook}: the hook runs on a kernel thread, so it needs no carrier, which may all be held by threads that do not wait. */
    public static void addShutdownHook(Runtime r, PicoThread hook) {
        if (hook.isAlive() || hook.getState() != Thread.State.NEW) {
            throw new IllegalArgumentException(hook + " has been started; a shutdown hook must not be");
        }
        Thread kernel = PicoRuntime.standard().onKernel(hook);
        if (HOOKS.putIfAbsent(hook, kernel) != null) {
            throw new IllegalArgumentException(hook + " is a shutdown hook already");
        }
        boolean added = false;
        try {
            r.addShutdownHook(kernel);
            added = true;
        } finally {
            if (!added) {
                HOOKS.remove(hook);
            }
        }
    }

    /** As {@link Runtime#removeShutdownHook}. */
    public static boolean removeShutdownHook(Runtime r, PicoThread hook) {
        Thread kernel = HOOKS.remove(hook);
        return kernel != null && r.removeShutdownHook(kernel);
    }
}
