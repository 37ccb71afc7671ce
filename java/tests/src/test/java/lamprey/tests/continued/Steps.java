package lamprey.tests.continued;

import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import lamprey.continuation.Computation;
import lamprey.continuation.Continuation;
import lamprey.continuation.ContinuationCodec;

/** Continuations in threads, and with locks. */
public final class Steps {
    private Steps() {}

    /** An object whose lock is held. */
    static final class Lock implements Serializable {
        private static final long serialVersionUID = 1;

        synchronized Object inMethod() {
            return Continuation.suspend("in method");
        }
    }

    private static synchronized Object inStatic() {
        return Continuation.suspend("in static");
    }

    private static final Computation<String, Object> IN_BLOCK = first -> {
        Lock lock = new Lock();
        synchronized (lock) {
            Continuation.suspend("in block");
        }
        return Continuation.suspend("behind block");
    };

    private static ContinuationCodec codec() {
        return ContinuationCodec.withKey(new byte[32]).allowFrames("lamprey.tests.continued").allow(Lock.class).loader(Steps.class.getClassLoader());
    }

    /** What writing a continuation says while each kind of lock is held, and afterwards. */
    public static List<String> locks() throws Exception {
        List<String> log = new ArrayList<>();
        for (Computation<String, Object> c : Arrays.<Computation<String, Object>>asList(IN_BLOCK, first -> new Lock().inMethod(), first -> inStatic())) {
            Continuation<String, Object> k = Continuation.of(c).run("first");
            log.add(k.value() + ": " + written(k));
            k = k.run("next");
            if (!k.isDone()) {
                log.add(k.value() + ": " + written(k));
            }
        }
        return log;
    }

    private static String written(Continuation<String, Object> k) throws IOException {
        try {
            return codec().decode(codec().encode(k)).value() + " written";
        } catch (IllegalStateException e) {
            return e.getMessage();
        }
    }

    /** A computation that blocks its thread between its suspensions. */
    private static int blocking(int id, int rounds) throws InterruptedException {
        int sum = 0;
        for (int i = 0; i < rounds; i++) {
            Thread.sleep(1);
            int got = Continuation.suspend(id * 1000 + i);
            Thread.yield();
            sum += got;
        }
        Thread.sleep(1);
        return sum;
    }

    /** Many threads, each of which runs a continuation that blocks it. The sums that they have got. */
    public static List<Integer> inThreads(int threads, int rounds) throws InterruptedException {
        List<Integer> sums = Collections.synchronizedList(new ArrayList<>());
        List<Thread> all = new ArrayList<>();
        for (int id = 0; id < threads; id++) {
            int mine = id;
            Thread t = new Thread(() -> sums.add(drive(mine, rounds)));
            all.add(t);
            t.start();
        }
        for (Thread t : all) {
            t.join();
        }
        return sums;
    }

    private static int drive(int id, int rounds) {
        try {
            Continuation<Integer, Integer> k = Continuation.of(first -> blocking(id, rounds));
            Thread me = Thread.currentThread();
            k = k.run(0);
            for (int i = 0; !k.isDone(); i++) {
                if (k.value() != id * 1000 + i || Thread.currentThread() != me) {
                    return -1;
                }
                Thread.yield();
                k = k.run(i);
            }
            return k.value();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** A continuation in a continuation in a thread: each suspension goes to its own, a sleep to the thread. */
    public static List<String> nested() throws InterruptedException {
        List<String> log = new ArrayList<>();
        Thread t = new Thread(() -> {
            try {
                Continuation<String, String> outer = Continuation.of(Steps::outer);
                outer = outer.run("a");
                log.add(outer.value());
                outer = outer.run("b");
                log.add(outer.value());
                outer = outer.run("c");
                log.add(outer.value() + outer.isDone());
            } catch (Throwable e) {
                log.add(e.toString());
            }
        });
        t.start();
        t.join();
        return log;
    }

    private static String outer(String first) throws Exception {
        Continuation<String, String> inner = Continuation.of(x -> {
            Thread.sleep(1);
            String y = Continuation.suspend("inner " + x);
            Thread.sleep(1);
            return "inner end " + y;
        });
        inner = inner.run(first);
        String second = Continuation.suspend("outer got " + inner.value());
        Thread.sleep(1);
        inner = inner.run(second);
        String third = Continuation.suspend("outer got " + inner.value());
        return "outer end " + third;
    }

    /** A callback of the JDK is in the way once; the computation gets the error, and goes on. */
    public static List<String> pinned() throws Exception {
        List<String> log = new ArrayList<>();
        Continuation<String, Object> k = Continuation.of(first -> {
            try {
                java.util.stream.IntStream.range(1, 3).forEach(n -> Continuation.suspend(n));
            } catch (Error e) {
                log.add(e.getClass().getSimpleName());
            }
            return Continuation.suspend("after") + "!";
        });
        k = k.run("first");
        log.add(k.value() + "");
        log.add(k.run("end").value() + "");
        return log;
    }

    /** Made while the computation is suspended in its constructors. */
    static class Made implements Serializable {
        private static final long serialVersionUID = 1;
        final String first;

        Made(String text) {
            first = text + Continuation.suspend("in super");
        }
    }

    static final class MadeMore extends Made {
        private static final long serialVersionUID = 1;
        final String second;

        MadeMore(String text) {
            super(text);
            second = first + Continuation.suspend("in constructor");
        }
    }

    static Object reflected(Object x, int n) {
        return x + Continuation.suspend("in reflection").toString() + n;
    }

    private static String everything(String first) throws Exception {
        long wide = first.length();
        double real = wide / 2.0;
        int[] numbers = {1, 2, (int) wide};
        List<Object> shared = new ArrayList<>();
        Object[] alias = {shared, shared};
        String s = wide + new MadeMore(first).second;
        s += Steps.class.getDeclaredMethod("reflected", Object.class, int.class).invoke(null, s, numbers[2]);
        try {
            s += Continuation.suspend("in try");
            shared.add(wide);
            throw new IllegalStateException("x");
        } catch (IllegalStateException e) {
            s += "caught";
        } finally {
            s += Continuation.<String>suspend("in finally") + real;
        }
        return s + ((List<?>) alias[1]).size() + (alias[0] == alias[1]) + wide;
    }

    /** Each suspension of {@link #everything}, with or without being written and read. */
    public static List<String> everything(boolean written) throws Exception {
        ContinuationCodec codec = codec().allowPackage("lamprey.tests.continued").allow(IllegalStateException.class).allow(Exception.class);
        List<String> log = new ArrayList<>();
        Continuation<String, String> k = Continuation.of(Steps::everything);
        for (int i = 0; !k.isDone(); i++) {
            if (written && i > 0) {
                k = codec.decode(codec.encode(k));
            }
            k = k.run("v" + i);
            log.add(k.value());
        }
        return log;
    }
}
