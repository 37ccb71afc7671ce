package lamprey.tests.puzzles;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntBinaryOperator;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/** Programs in miniature, each about one thing that could go wrong when a thread is suspended in it. Each returns what it has seen. */
public final class Puzzles {
    private Puzzles() {}

    /** Runs each on a thread of its own; by name. */
    public static Map<String, String> all() throws Exception {
        Map<String, String> results = new TreeMap<>();
        for (Method m : Puzzles.class.getDeclaredMethods()) {
            if (m.getReturnType() == String.class && m.getParameterCount() == 0 && !m.getName().contains("lambda")) {
                String[] result = new String[1];
                Thread t = new Thread(() -> {
                    try {
                        result[0] = (String) m.invoke(null);
                    } catch (Throwable e) {
                        result[0] = "thrown " + (e.getCause() == null ? e : e.getCause());
                    }
                });
                t.start();
                t.join();
                results.put(m.getName(), result[0]);
            }
        }
        return results;
    }

    static int nap(int x) {
        Thread.yield();
        return x;
    }

    static long napLong(long x) {
        Thread.yield();
        return x;
    }

    static double napDouble(double x) {
        Thread.yield();
        return x;
    }

    static <T> T pass(T x) {
        Thread.yield();
        return x;
    }

    // ---- Which method a call selects.

    static class PrivateBase {
        private String who() {
            nap(1);
            return "base";
        }

        String ask() {
            return who();
        }
    }

    static class PrivateSub extends PrivateBase {
        private String who() {
            nap(1);
            return "sub";
        }

        String askSub() {
            return who() + ask();
        }
    }

    static String private_methods_of_the_same_name() {
        return new PrivateSub().askSub();
    }

    interface Top {
        default String name() {
            nap(1);
            return "top";
        }

        static String fixed() {
            return "fixed" + nap(2);
        }

        default String shown() {
            return "shown" + nap(3);
        }
    }

    interface Left extends Top {
        @Override
        default String name() {
            return "left " + nap(1) + Top.super.name();
        }
    }

    interface Right extends Top {}

    static class Diamond implements Left, Right {
        String both() {
            return name() + Left.super.name() + shown();
        }
    }

    static class DiamondSub extends Diamond {
        @Override
        public String name() {
            return "sub " + nap(1) + super.name();
        }
    }

    static String default_methods() {
        Top t = new DiamondSub();
        Right r = new Diamond();
        return t.name() + r.name() + new DiamondSub().both() + Top.fixed();
    }

    static class Covariant implements Callable<String>, Comparable<Covariant>, Function<Integer, String> {
        @Override
        public String call() {
            return "call" + nap(1);
        }

        @Override
        public int compareTo(Covariant o) {
            return nap(7);
        }

        @Override
        public String apply(Integer i) {
            return "apply" + nap(i);
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    static String bridges() throws Exception {
        Callable<?> c = new Covariant();
        Comparable raw = new Covariant();
        Function f = new Covariant();
        return "" + c.call() + raw.compareTo(new Covariant()) + f.apply(5);
    }

    static String wrong_type_through_a_bridge() {
        try {
            @SuppressWarnings({"unchecked", "rawtypes"})
            Object o = ((Function) new Covariant()).apply("text");
            return "" + o;
        } catch (ClassCastException e) {
            return "cast";
        }
    }

    enum Op implements IntBinaryOperator {
        PLUS {
            @Override
            public int applyAsInt(int a, int b) {
                return nap(a) + nap(b);
            }
        },
        TIMES {
            @Override
            public int applyAsInt(int a, int b) {
                return nap(a) * nap(b);
            }
        };

        String show(int a, int b) {
            return name() + applyAsInt(a, b);
        }
    }

    static String enum_constants_with_bodies() {
        StringBuilder s = new StringBuilder();
        for (Op op : Op.values()) {
            s.append(op.show(3, 4));
            switch (Op.valueOf(pass(op.name()))) {
                case PLUS: s.append(nap(1)); break;
                case TIMES: s.append(nap(2)); // falls through
                default: s.append(nap(3));
            }
        }
        return s.toString();
    }

    // ---- Values.

    static byte b(int x) {
        Thread.yield();
        return (byte) x;
    }

    static short s(int x) {
        Thread.yield();
        return (short) x;
    }

    static char c(int x) {
        Thread.yield();
        return (char) x;
    }

    static float f(double x) {
        Thread.yield();
        return (float) x;
    }

    static boolean z(boolean x) {
        Thread.yield();
        return x;
    }

    static String narrow_values() {
        return b(200) + " " + s(70000) + " " + (int) c(-1) + " " + f(1.1) + " " + z(true) + (b(-1) >>> 28) + (b(-128) == -128) + Float.NaN + f(Double.NaN)
            + f(-0.0) + napDouble(-0.0) + napLong(Long.MIN_VALUE);
    }

    static String compound_assignments() {
        int[] a = {1, 2, 3};
        long[] l = {1, 2};
        byte[] bytes = {127};
        String[] t = {"a"};
        int i = 0;
        a[i++] += nap(10) * a[i];
        a[nap(1)] <<= nap(3);
        a[a.length - nap(1)]++;
        l[nap(1)] -= napLong(5) * 2;
        bytes[nap(0)] += nap(3);
        t[0] += pass("b") + t[0] + nap(4);
        i += nap(i = 5) + i++ + ++i;
        return Arrays.toString(a) + Arrays.toString(l) + Arrays.toString(bytes) + t[0] + i;
    }

    static String operands_below() {
        long x = 1 + napLong(2) * (3 + napLong(4) * (5 - napLong(6)));
        double d = 1.5 * napDouble(2) - (napLong(3) / (double) nap(4));
        boolean q = nap(1) < nap(2) && (napLong(3) > napLong(4) || z(true)) ^ z(false);
        return x + " " + d + " " + q + (q ? nap(1) : napLong(2)) + (char) (nap('a') + 1) + (z(true) ? 'c' : nap(3)) + (Object) (z(false) ? 1 : "s");
    }

    static String nulls() {
        Object none = null;
        String text = null;
        int[] array = null;
        nap(1);
        StringBuilder s = new StringBuilder();
        try {
            none.toString();
        } catch (NullPointerException e) {
            s.append("npe ");
        }
        try {
            array[nap(0)] = nap(1);
        } catch (NullPointerException e) {
            s.append("npe2 ");
        }
        try {
            int unboxed = pass((Integer) null);
            s.append(unboxed);
        } catch (NullPointerException e) {
            s.append("npe3 ");
        }
        none = z(true) ? null : new int[0];
        nap(2);
        return s + text + none + array;
    }

    static String merged_types() {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < 3; i++) {
            Object o = i == 0 ? "text" : i == 1 ? Integer.valueOf(nap(5)) : new int[nap(2)];
            Collection<?> col = z(i == 1) ? new ArrayList<>() : Arrays.asList(nap(1), nap(2));
            CharSequence sb = i == 0 ? new StringBuilder("b") : new StringBuffer("f");
            Comparable<?> cmp = i == 0 ? "x" : (Comparable<?>) Integer.valueOf(3);
            nap(1);
            out.append(o instanceof String).append(col.size()).append(cmp).append(sb);
            nap(2);
            out.append(sb.length());
        }
        return out.toString();
    }

    static String many_arguments() {
        return args(nap(1), napLong(2), napDouble(3), pass("4"), b(5), c('6'), z(true), f(8), new int[] {nap(9)}, nap(10), napLong(11), pass(12L));
    }

    static String args(int a, long b, double c, String d, byte e, char f, boolean g, float h, int[] i, int... more) {
        Thread.yield();
        return "" + a + b + c + d + e + f + g + h + i[0] + more.length;
    }

    static String args(int a, long b, double c, String d, byte e, char f, boolean g, float h, int[] i, int j, long k, Long l) {
        Thread.yield();
        return "" + a + b + c + d + e + f + g + h + i[0] + j + k + l + args(a, b, c, d, e, f, g, h, i, nap(1), nap(2), nap(3));
    }

    // ---- Control flow.

    static String finally_everywhere() {
        StringBuilder s = new StringBuilder();
        for (int i = 0; i < 8; i++) {
            s.append(tangled(i, s)).append(';');
        }
        return s.toString();
    }

    @SuppressWarnings("finally")
    private static int tangled(int i, StringBuilder s) {
        outer:
        for (int k = 0; ; k++) {
            try {
                try {
                    if (nap(i) == 0) {
                        return nap(100);
                    }
                    if (i == 1) {
                        throw new IllegalStateException("one");
                    }
                    if (i == 2 && k == 0) {
                        continue outer;
                    }
                    if (i == 3) {
                        break outer;
                    }
                    if (i == 4) {
                        Object none = pass(null);
                        none.hashCode();
                    }
                    s.append(nap(k));
                    if (i == 5) {
                        return nap(1) / nap(0);
                    }
                } catch (IllegalStateException e) {
                    s.append(e.getMessage()).append(nap(2));
                    return nap(101);
                } finally {
                    s.append('f').append(nap(k));
                    if (i == 5) {
                        return nap(102);
                    }
                }
            } catch (NullPointerException e) {
                s.append("npe").append(nap(3));
                break;
            } catch (Throwable e) {
                s.append("other").append(e.getClass().getSimpleName());
                throw e;
            } finally {
                nap(4);
                s.append('g');
            }
            if (k > 1) {
                return nap(103);
            }
        }
        return nap(104);
    }

    static class Res implements AutoCloseable {
        private final String name;
        private final StringBuilder log;
        private final boolean fails;

        Res(String name, StringBuilder log, boolean fails) {
            this.name = name + nap(1);
            this.log = log;
            this.fails = fails;
        }

        @Override
        public void close() throws Exception {
            log.append("close ").append(name);
            Thread.sleep(1);
            if (fails) {
                throw new Exception("close " + name);
            }
        }
    }

    static String try_with_resources() {
        StringBuilder s = new StringBuilder();
        try (Res a = new Res("a", s, true); Res none = pass(null); Res b = new Res("b", s, true)) {
            s.append(a.name).append(b.name).append(nap(1));
            throw new Exception("body");
        } catch (Exception e) {
            s.append(e.getMessage());
            for (Throwable t : e.getSuppressed()) {
                s.append(t.getMessage()).append(nap(2));
            }
        }
        return s.toString();
    }

    static String catches_of_everything() {
        StringBuilder s = new StringBuilder();
        for (int i = 0; i < 3; i++) {
            try {
                nap(1);
                Thread.sleep(1);
                s.append(deep(nap(i)));
            } catch (Throwable t) {
                s.append(t);
            }
        }
        return s.toString();
    }

    private static String deep(int n) {
        try {
            if (n == 0) {
                throw new Error("e" + nap(9));
            }
            return n + deep(n - 1);
        } catch (Error e) {
            nap(1);
            if (n < 2) {
                throw e;
            }
            return "caught" + nap(n);
        } finally {
            nap(2);
        }
    }

    /** Whose methods do what those of an exception should not. */
    static class Odd extends RuntimeException {
        private static final long serialVersionUID = 1;
        final boolean throwing;

        Odd(boolean throwing) {
            this.throwing = throwing;
        }

        @Override
        public synchronized Throwable getCause() {
            if (throwing) {
                throw new IllegalStateException("no cause");
            }
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                return e;
            }
            return null;
        }
    }

    static String exceptions_with_odd_methods() {
        StringBuilder s = new StringBuilder();
        for (int i = 0; i < 4; i++) {
            try {
                odd(i);
            } catch (Odd e) {
                s.append(e.throwing).append(nap(i));
            }
        }
        return s.toString();
    }

    private static int odd(int i) {
        return nap(i) + odder(nap(i));
    }

    private static int odder(int i) {
        Thread.yield();
        throw new Odd(i % 2 == 0);
    }

    static String string_switch_and_loops() {
        StringBuilder s = new StringBuilder();
        for (String w : Arrays.asList("a", "bb", "ccc", "Aa", "BB")) {
            switch (pass(w)) {
                case "a": s.append(nap(1)); break;
                case "Aa": s.append(nap(2)); // falls through
                case "BB": s.append(nap(3)); break;
                default:
                    do {
                        s.append(w.charAt(nap(0)));
                    } while (z(s.length() % 4 != 0));
            }
        }
        return s.toString();
    }

    static String deep_recursion() {
        return "" + sum(2000);
    }

    private static long sum(int n) {
        if (n == 0) {
            return napLong(1);
        }
        long rest = sum(n - 1);
        if (n % 500 == 0) {
            Thread.yield();
        }
        return rest + n;
    }

    static String stack_overflow_after_a_suspension() {
        try {
            nap(1);
            return "" + endless(0);
        } catch (StackOverflowError e) {
            nap(2);
            return "overflow" + nap(3);
        }
    }

    private static int endless(int n) {
        return endless(n + 1) + (n < 0 ? nap(1) : 0);
    }

    // ---- Objects.

    static class Init {
        static int counter;
        final int first = nap(1);
        final String text;
        int later = nap(first + 1);
        final Runnable captured;
        final long[] numbers = {napLong(1), napLong(2)};

        {
            later += nap(10);
        }

        Init(String t) {
            this(t, 5);
            later++;
        }

        Init(String t, int n) {
            super();
            String local = t + n;
            text = pass(local);
            captured = () -> counter += nap(n) + local.length() + later;
            nap(2);
        }
    }

    static class SubInit extends Init {
        final int own;

        SubInit(int n) {
            super("s" + n, n);
            own = nap(n) + later;
        }

        class Inner {
            final int sum = own + nap(1) + SubInit.this.first;
        }
    }

    static String initialisers() {
        Init a = new Init("t");
        SubInit s = new SubInit(nap(3));
        s.captured.run();
        SubInit.Inner inner = s.new Inner();
        int outer = nap(4);
        Init anonymous = new Init("anon", nap(1)) {
            final int more = outer + nap(6) + later;

            @Override
            public String toString() {
                return "more" + more + nap(1);
            }
        };
        return a.text + a.later + s.own + s.text + inner.sum + anonymous + Init.counter + a.numbers[1];
    }

    static String new_in_arguments() {
        StringBuilder s = new StringBuilder(new StringBuilder(pass("in")).append(nap(1)).toString());
        List<Object> l = new ArrayList<>(Arrays.asList(new Object[] {new Init("x" + nap(1), z(true) ? nap(2) : nap(3)).text, new int[nap(2)][nap(3)].length}));
        throwing(s);
        return s.append(l).append(new Integer[] {nap(1), null}.length).toString();
    }

    private static void throwing(StringBuilder s) {
        try {
            throw new IllegalArgumentException("m" + nap(1), new Exception(pass("cause")));
        } catch (IllegalArgumentException e) {
            s.append(e.getMessage()).append(e.getCause().getMessage());
        }
    }

    // ---- Functions.

    static String lambdas() throws Exception {
        int base = nap(100);
        List<Supplier<Integer>> all = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            int k = i;
            all.add(() -> base + nap(k));
        }
        BiFunction<Integer, Integer, Integer> add = (a, b) -> nap(a) + nap(b);
        Function<Integer, Function<Integer, Integer>> curried = a -> b -> add.apply(nap(a), b);
        IntSupplier prim = () -> nap(7);
        Callable<String> throwing = () -> {
            nap(1);
            throw new java.io.IOException("io");
        };
        StringBuilder s = new StringBuilder();
        for (Supplier<Integer> x : all) {
            s.append(x.get()).append(' ');
        }
        s.append(curried.apply(3).apply(4)).append(prim.getAsInt());
        try {
            throwing.call();
        } catch (java.io.IOException e) {
            s.append(e.getMessage()).append(nap(2));
        }
        return s.toString();
    }

    static class Walk implements Iterable<Integer> {
        @Override
        public Iterator<Integer> iterator() {
            return new Iterator<Integer>() {
                private int i = nap(0);

                @Override
                public boolean hasNext() {
                    return nap(i) < 4;
                }

                @Override
                public Integer next() {
                    return nap(i++);
                }
            };
        }
    }

    static String iterators() {
        StringBuilder s = new StringBuilder();
        for (int i : new Walk()) {
            for (int j : new Walk()) {
                if (j > i) {
                    break;
                }
                s.append(i * j);
            }
        }
        return s.toString();
    }

    static final class Text {
        @Override
        public String toString() {
            return "t" + nap(1);
        }
    }

    static String texts() {
        Object o = new Text();
        StringBuilder s = new StringBuilder().append(o).append('-').append(new Text());
        s.append("" + o + 1L + 'c' + null + o).append(String.valueOf(o));
        String t = "x";
        t += o;
        return s + t + nap(1) + o;
    }

    static String callbacks_of_the_jdk_that_do_not_suspend() {
        Map<String, Integer> m = new LinkedHashMap<>();
        for (String w : "a b a c b a".split(" ")) {
            m.merge(pass(w), nap(1), Integer::sum);
        }
        List<String> l = new ArrayList<>(m.keySet());
        l.sort(Comparator.reverseOrder());
        nap(1);
        return m + "" + l + new HashMap<>(m).size();
    }

    // ---- Locks.

    private static final Object LOCK = new Object();

    static String locks_and_exceptions() {
        StringBuilder s = new StringBuilder();
        try {
            synchronized (LOCK) {
                s.append(Thread.holdsLock(LOCK));
                synchronized (LOCK) {
                    nap(1);
                    throw new IllegalStateException("in");
                }
            }
        } catch (IllegalStateException e) {
            s.append(Thread.holdsLock(LOCK)).append(e.getMessage());
        }
        try {
            synchronized (pass((Object) null)) {
                s.append("never");
            }
        } catch (NullPointerException e) {
            s.append("npe");
        }
        try {
            LOCK.notify();
        } catch (IllegalMonitorStateException e) {
            s.append("not owner");
        }
        for (int i = 0; i < 3; i++) {
            synchronized (LOCK) {
                if (nap(i) == 1) {
                    continue;
                }
                s.append(i);
            }
        }
        return s + "" + Thread.holdsLock(LOCK);
    }

    static String interrupts() throws Exception {
        StringBuilder s = new StringBuilder();
        Thread t = new Thread(() -> {
            try {
                synchronized (LOCK) {
                    try {
                        Thread.sleep(60_000);
                    } finally {
                        s.append(Thread.interrupted()).append(Thread.holdsLock(LOCK));
                    }
                }
            } catch (InterruptedException e) {
                s.append("interrupted").append(Thread.currentThread().isInterrupted()).append(Thread.holdsLock(LOCK));
                boolean shown = false;
                for (StackTraceElement x : e.getStackTrace()) {
                    shown |= x.getMethodName().contains("interrupts");
                }
                s.append(shown);
            }
            Thread.currentThread().interrupt();
            try {
                Thread.sleep(60_000);
            } catch (InterruptedException e) {
                s.append("again").append(nap(1));
            }
        });
        t.start();
        nap(1);
        t.interrupt();
        t.join();
        return s.toString();
    }

    static String wait_and_notify() throws Exception {
        int[] turn = {0};
        StringBuilder s = new StringBuilder();
        Thread[] all = new Thread[3];
        for (int i = 0; i < all.length; i++) {
            int me = i;
            all[i] = new Thread(() -> {
                for (int round = 0; round < 3; round++) {
                    synchronized (turn) {
                        while (turn[0] % 3 != me) {
                            try {
                                turn.wait();
                            } catch (InterruptedException e) {
                                return;
                            }
                        }
                        s.append(me).append(nap(round));
                        turn[0]++;
                        turn.notifyAll();
                    }
                }
            });
            all[i].start();
        }
        for (Thread t : all) {
            t.join();
        }
        return s.toString();
    }
}
