package lamprey.tests.resumed;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** Exceptions behind a call that suspends, in the same line of the source: which line their traces name. */
public final class Lines {
    private Lines() {}

    private static int pause() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return 1;
    }

    private static int fail(int n) {
        if (n > 0) {
            throw new IllegalStateException("fails");
        }
        return n;
    }

    private static Object sum() {
        int x = pause() + fail(1);
        Math.abs(x);
        return x;
    }

    private static Object twoStatements(Object o) {
        pause(); o.hashCode();
        pause();
        return o;
    }

    private static Object loop() {
        int n = 0;
        for (int i = 0; i < 3; i++) { n += pause(); fail(i); }
        n++;
        return n;
    }

    private static Object locked() {
        synchronized (Lines.class) { pause(); fail(1); }
        return null;
    }

    private static Object atLast() {
        try { pause(); } finally { fail(1); }
        return null;
    }

    private static Object caught() {
        try {
            pause(); fail(1);
        } catch (IllegalStateException e) { pause(); fail(1);
        }
        return null;
    }

    private static Object chosen(boolean yes) {
        return yes
            ? pause() + fail(1) : pause()
            + fail(1);
    }

    private static Object merged(int n) {
        int x = n > 0 ? pause() : n; fail(x);
        x++;
        return pause() + x;
    }

    private static Object switched(int n) {
        switch (n) { case 1: pause(); fail(1); return 1;
            case 2: pause();
            default: fail(2);
        }
        return pause();
    }

    private static Object divided(int n) {
        return
            pause() /
            (n + fail(0));
    }

    private static Object made() {
        return new ArrayList<Object>(pause()).get(
            pause());
    }

    private static Object lambda() throws Exception {
        Callable<Object> c = () -> { pause(); return fail(1); };
        pause(); c.call();
        return null;
    }

    private static final class Thing {
        final int n;

        Thing(int n) {
            pause(); this.n = n + fail(n);
            pause();
        }
    }

    private static void in(List<String> log, String name, Callable<Object> shape) {
        try {
            log.add(name + " returns " + shape.call());
        } catch (Exception e) {
            StringBuilder lines = new StringBuilder(name + " " + e);
            for (StackTraceElement s : e.getStackTrace()) {
                if (s.getClassName().startsWith(Lines.class.getName()) && s.getLineNumber() > 0) {
                    lines.append(' ').append(s.getMethodName().replaceFirst("lambda.*", "lambda")).append(':').append(s.getLineNumber());
                }
            }
            log.add(lines.toString());
        }
    }

    /** Each shape, and the lines of its exception. */
    public static List<String> report() throws InterruptedException {
        List<String> log = new ArrayList<>();
        Thread t = new Thread(() -> {
            in(log, "sum", Lines::sum);
            in(log, "two statements", () -> twoStatements(null));
            in(log, "loop", Lines::loop);
            in(log, "locked", Lines::locked);
            in(log, "at last", Lines::atLast);
            in(log, "caught", Lines::caught);
            in(log, "yes", () -> chosen(true));
            in(log, "no", () -> chosen(false));
            in(log, "merged", () -> merged(1));
            in(log, "case 1", () -> switched(1));
            in(log, "case 2", () -> switched(2));
            in(log, "divided", () -> divided(0));
            in(log, "made", Lines::made);
            in(log, "lambda", Lines::lambda);
            in(log, "constructor", () -> new Thing(1));
        });
        t.start();
        t.join();
        return log;
    }
}
