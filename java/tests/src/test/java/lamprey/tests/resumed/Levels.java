package lamprey.tests.resumed;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * A chain of calls of several kinds that is suspended and resumed some times at each level, and then throws. What it reports must be the same on a plain
 * thread and on a resumed light one.
 */
public final class Levels implements Runnable {
    /** Thrown at the bottom. */
    public static final class Boom extends Exception {
        private static final long serialVersionUID = 1;

        Boom(String message, Throwable cause) {
            super(message, cause);
        }

        // Line numbers of constructors must not matter: a trace begins where the exception is made.
    }

    private final int depth;
    private final int before;
    private final int atBottom;
    private final List<String> report = new ArrayList<>();
    private Thread thread;

    private Levels(int depth, int before, int atBottom) {
        this.depth = depth;
        this.before = before;
        this.atBottom = atBottom;
    }

    /**
     * Runs it on a thread of its own.
     *
     * @param before how often each level is suspended before it calls the next
     * @param atBottom how often the last one is, before it throws
     */
    public static List<String> report(int depth, int before, int atBottom) throws InterruptedException {
        Levels l = new Levels(depth, before, atBottom);
        l.thread = new Thread(l);
        l.thread.setUncaughtExceptionHandler((t, e) -> l.trace("uncaught", e));
        l.thread.start();
        l.thread.join();
        return l.report;
    }

    @Override
    public void run() {
        try {
            level(depth);
        } catch (Boom e) {
            trace("caught", e);
            trace("cause", e.getCause());
            trace("suppressed", e.getCause().getSuppressed()[0]);
            StringWriter text = new StringWriter();
            e.printStackTrace(new PrintWriter(text));
            int shown = 0;
            for (String line : text.toString().split("\n")) {
                shown += line.contains("Levels.run") ? 1 : 0;
            }
            report.add("printed run " + shown + " times");
            throw new IllegalStateException(e);
        }
    }

    private void suspend(int times) {
        for (int i = 0; i < times; i++) {
            Thread.yield();
        }
    }

    private int level(int n) throws Boom {
        suspend(before);
        if (n == 0) {
            return bottom();
        }
        try {
            switch (n % 4) {
                case 0: return 1 + level(n - 1);
                case 1: return new Made(this, n - 1).value;
                case 2: return onStatic(this, n - 1);
                default: return called(k -> bridge(k), n - 1);
            }
        } finally {
            suspend(before / 2);
        }
    }

    private int bridge(int n) {
        try {
            return level(n);
        } catch (Boom e) {
            throw sneak(e);
        }
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException sneak(Throwable e) throws E {
        throw (E) e;
    }

    private static int called(IntFunction<Integer> f, int n) {
        return f.apply(n);
    }

    private static int onStatic(Levels l, int n) throws Boom {
        return l.level(n);
    }

    private static final class Made {
        final int value;

        Made(Levels l, int n) throws Boom {
            value = l.level(n);
        }
    }

    private int bottom() throws Boom {
        suspend(atBottom);
        Throwable cause = new ArithmeticException("cause");
        suspend(atBottom);
        cause.addSuppressed(suppressed());
        try {
            here("running");
            suspend(atBottom);
            here("resumed");
            throw new IllegalArgumentException("inner", cause);
        } catch (IllegalArgumentException e) {
            trace("inner", e);
            suspend(atBottom);
            throw new Boom("outer", cause);
        }
    }

    private Exception suppressed() {
        suspend(atBottom);
        return new UnsupportedOperationException();
    }

    private void here(String what) {
        List<String> calls = new ArrayList<>();
        for (StackTraceElement e : Thread.currentThread().getStackTrace()) {
            calls.add(e.toString());
        }
        add(what, calls);
    }

    private void trace(String what, Throwable e) {
        if (e instanceof Error) {
            report.add(e.toString());
        }
        List<String> calls = new ArrayList<>();
        for (StackTraceElement s : e.getStackTrace()) {
            calls.add(s.toString());
        }
        add(what, calls);
    }

    /** The calls of this program; frames of threads and of the JVM's reflection differ. */
    private void add(String what, List<String> calls) {
        report.add(what);
        for (String c : calls) {
            int slash = c.lastIndexOf('/');
            String call = slash < 0 ? c : c.substring(slash + 1);
            if (call.startsWith("lamprey.tests.")) {
                report.add("  " + call);
            }
        }
    }
}
