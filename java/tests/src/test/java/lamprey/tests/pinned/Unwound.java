package lamprey.tests.pinned;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import lamprey.continuation.Continuation;
import lamprey.instrument.PinnedError;
import lamprey.tests.pinned.foreign.Foreign;

/** A plain program that looks at what the methods do that have called a blocking one which is refused. The test transforms it. */
public final class Unwound {
    private static final Object LOCK = new Object();
    private static final ReentrantLock REENTRANT = new ReentrantLock();

    /** In the order in which things happened. */
    private final List<String> log = Collections.synchronizedList(new ArrayList<>());

    private Unwound() {}

    private interface Body {
        void run(Unwound u) throws Exception;
    }

    private static List<String> inThread(Body b) throws InterruptedException {
        Unwound u = new Unwound();
        Thread t = new Thread(() -> {
            try {
                b.run(u);
                u.log.add("end");
            } catch (Throwable thrown) {
                u.log.add("ended by " + thrown.getClass().getSimpleName() + suppressed(thrown));
            }
        });
        t.start();
        t.join();
        return u.log;
    }

    private static String suppressed(Throwable t) {
        StringBuilder text = new StringBuilder();
        for (Throwable s : t.getSuppressed()) {
            text.append(" + ").append(s.getClass().getSimpleName());
        }
        return text.toString();
    }

    private static int pause() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return 1;
    }

    private void locked() {
        synchronized (LOCK) {
            REENTRANT.lock();
            try {
                pause();
                log.add("went on");
            } finally {
                log.add("finally");
                REENTRANT.unlock();
            }
        }
    }

    private synchronized void lockedByMethod() {
        pause();
    }

    private static String locks() throws InterruptedException {
        String[] got = {""};
        Thread t = new Thread(() -> {
            synchronized (LOCK) {
                got[0] += "L";
            }
            REENTRANT.lock();
            got[0] += "R";
            REENTRANT.unlock();
        });
        t.start();
        t.join();
        return got[0];
    }

    public static List<String> locks_are_released() throws InterruptedException {
        return inThread(u -> {
            try {
                Foreign.call(u::locked);
            } catch (PinnedError e) {
                u.log.add("holds " + Thread.holdsLock(LOCK) + " " + REENTRANT.isHeldByCurrentThread());
            }
            try {
                Foreign.call(u::lockedByMethod);
            } catch (PinnedError e) {
                u.log.add("holds " + Thread.holdsLock(u));
            }
            u.log.add(locks());
        });
    }

    public static List<String> locks_are_released_if_nobody_notices() throws InterruptedException {
        List<String> log = inThread(u -> Foreign.swallow(u::locked));
        log.add(locks());
        return log;
    }

    private int catching() {
        int n = 0;
        try {
            n += pause();
        } catch (PinnedError e) {
            log.add("caught");
            n += 10;
        }
        return n;
    }

    public static List<String> inner_method_catches_it_and_goes_on() throws InterruptedException {
        return inThread(u -> {
            try {
                Foreign.call(() -> {
                    u.log.add("returned " + u.catching());
                });
            } finally {
                u.log.add("outer");
            }
        });
    }

    public static List<String> blocking_again_is_refused_again() throws InterruptedException {
        return inThread(u -> {
            try {
                Foreign.call(() -> {
                    try {
                        pause();
                    } finally {
                        u.log.add("finally");
                        pause();
                        u.log.add("went on");
                    }
                });
            } finally {
                u.log.add("blocks " + pause());
            }
        });
    }

    public static List<String> another_exception_is_added() throws InterruptedException {
        return inThread(u -> Foreign.call(() -> {
            try {
                pause();
            } catch (PinnedError e) {
                throw new ArithmeticException("another");
            }
        }));
    }

    private void nested(int depth) {
        try {
            if (depth == 0) {
                pause();
            } else if (depth % 2 == 0) {
                nested(depth - 1);
            } else {
                Foreign.call(() -> nested(depth - 1));
            }
        } finally {
            log.add("f" + depth);
        }
    }

    public static List<String> each_finally_runs_once_and_the_innermost_first() throws InterruptedException {
        return inThread(u -> u.nested(5));
    }

    public static List<String> each_finally_runs_once_after_a_resumption() throws InterruptedException {
        return inThread(u -> {
            pause();
            u.nested(3);
        });
    }

    private static Throwable made() {
        try {
            pause();
            return null;
        } catch (PinnedError e) {
            return new ArithmeticException();
        }
    }

    private static void innerCall(Throwable[] seen) {
        seen[0] = made();
    }

    private static String names(Throwable t) {
        StringBuilder names = new StringBuilder();
        for (StackTraceElement e : t.getStackTrace()) {
            names.append(names.length() == 0 ? "" : " ").append(e.getMethodName());
        }
        return names.toString();
    }

    private static void outerCall(Unwound u, Throwable[] seen) {
        try {
            Foreign.call(() -> innerCall(seen));
        } catch (PinnedError e) {
            u.log.add(names(e));
        }
    }

    public static List<String> traces() throws InterruptedException {
        return inThread(u -> {
            Throwable[] seen = {null};
            outerCall(u, seen);
            u.log.add(names(seen[0]));
            pause();
            outerCall(u, seen);
            u.log.add(names(seen[0]));
        });
    }

    private static Continuation<Integer, Integer> run(Continuation<Integer, Integer> k, int in) {
        try {
            return k.run(in);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public static List<String> continuation_that_a_thread_runs_gets_it_too() throws InterruptedException {
        return inThread(u -> Foreign.call(() -> {
            try {
                run(Continuation.of(n -> {
                    try {
                        return pause();
                    } finally {
                        u.log.add("computation");
                    }
                }), 1);
            } finally {
                u.log.add("runner");
            }
        }));
    }

    public static List<String> continuation_can_be_used_while_frames_are_unwound() throws InterruptedException {
        return inThread(u -> Foreign.call(() -> {
            try {
                pause();
            } finally {
                Continuation<Integer, Integer> k = run(Continuation.of(n -> 1 + Continuation.<Integer>suspend(n)), 5);
                u.log.add("handed " + k.value());
                u.log.add("returned " + run(k, 5).value());
            }
        }));
    }

    private static int recurse(int depth) {
        try {
            return recurse(depth + 1) + 1;
        } catch (StackOverflowError e) {
            pause();
            return 1;
        }
    }

    public static List<String> stack_overflows_while_frames_are_saved() throws InterruptedException {
        List<String> log = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            log.addAll(inThread(u -> {
                u.log.add((recurse(0) > 0) + "");
                pause();
            }));
        }
        return log;
    }

    private static int deep(int depth) {
        return depth == 0 ? pause() : deep(depth - 1) + 1;
    }

    /** Deep enough to be left without stack, wherever that is noticed. */
    public static List<String> stack_overflows_and_nothing_catches_it() throws InterruptedException {
        List<String> log = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            int depth = 1000 << i / 2;
            log.addAll(inThread(u -> {
                try {
                    deep(Math.min(depth, 1 << 20));
                } catch (Error e) {
                    check(e instanceof StackOverflowError, e);
                }
                u.log.add("blocks " + pause());
            }));
        }
        return log;
    }

    private static void check(boolean holds, Throwable cause) {
        if (!holds) {
            throw new IllegalStateException("another error", cause);
        }
    }

    public static List<String> error_with_the_suspension_as_its_cause_can_be_written() throws InterruptedException {
        return inThread(u -> {
            try {
                Foreign.wrap(Unwound::pause);
            } catch (RuntimeException | Error e) {
                write(e);
            }
        });
    }

    private static void write(Throwable e) {
        try (ObjectOutputStream out = new ObjectOutputStream(new ByteArrayOutputStream())) {
            out.writeObject(e);
        } catch (IOException failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** The messages that the program gets, one for each way to be noticed. */
    public static List<String> messages() throws InterruptedException {
        return inThread(u -> {
            try {
                Foreign.call(Unwound::pause);
            } catch (PinnedError e) {
                u.log.add(e.getMessage());
            }
            try {
                Foreign.swallow(Unwound::pause);
                pause();
            } catch (PinnedError e) {
                u.log.add(e.getMessage());
            }
            try {
                Foreign.wrap(Unwound::pause);
            } catch (Throwable e) {
                u.log.add(e.getMessage() + " by " + e.getCause());
            }
        });
    }
}
