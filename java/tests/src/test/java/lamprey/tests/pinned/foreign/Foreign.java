package lamprey.tests.pinned.foreign;

import java.util.concurrent.Callable;

/** Code that is not transformed, as that of another library is, and calls back. */
public final class Foreign {
    private Foreign() {}

    /** Only calls. */
    public static void call(Runnable r) {
        r.run();
    }

    /** Calls, and does what it can to hide what is thrown. */
    public static void swallow(Runnable r) {
        try {
            r.run();
        } catch (Throwable t) {
            // Lost.
        }
    }

    /** Calls, and calls once more in a finally block. */
    public static void withFinally(Runnable body, Runnable last) {
        try {
            body.run();
        } finally {
            last.run();
        }
    }

    /** Throws another exception in the place of what is thrown. */
    public static void replace(Runnable r) {
        try {
            r.run();
        } catch (Throwable t) {
            throw new IllegalStateException("replaced");
        }
    }

    /** Throws an exception that has what is thrown as its cause. */
    public static void wrap(Runnable r) {
        try {
            r.run();
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    /** A wrapper whose method has the name of the one that it calls. */
    public static Runnable wrapping(Runnable inner) {
        return new Wrapper(inner);
    }

    /** A wrapper that a subclass inherits its method from. */
    public static class Wrapper implements Runnable {
        private final Runnable inner;

        /** Of a task. */
        public Wrapper(Runnable inner) {
            this.inner = inner;
        }

        @Override
        public void run() {
            inner.run();
        }
    }

    /** A wrapper that returns something. */
    public static <T> Callable<T> wrapping(Callable<T> inner) {
        return () -> inner.call();
    }
}
