package lamprey.tests.weave.samples;

import java.util.Arrays;
import lamprey.tests.weave.run.Y;

/** Operands, locals of all types, loops, switches, exceptions. */
public final class Plain {
    private Plain() {}

    public static final class Operands extends Sample {
        int field = 3;
        static long shared = 5;

        @Override
        Object test() {
            int a = 1 + i(2) * (i(3) + 10 * i(4));
            int[] array = {1, 2, 3};
            array[i(1)] += i(5);
            array[i(0)]++;
            field += i(7);
            shared = 5;
            shared += l(9) * 2 + i(1);
            double x = d(1.5) + l(3) * f(2.5f) - i(2);
            String text = "a" + i(1) + s("b") + l(2) + d(0.5) + f(1f) + z(true) + c('c');
            long[][] grid = new long[i(2)][i(3)];
            grid[i(1)][i(2)] = l(4) + (grid[1][0] = l(8));
            return a + " " + Arrays.toString(array) + field + shared + x + text + Arrays.deepToString(grid) + (i(1) < i(2) ? i(3) : i(4));
        }
    }

    public static final class Fib extends Sample {
        @Override
        Object test() {
            return fib(5) + " " + this.sum(4, 2L, 0.5, "x");
        }

        static int fib(int n) {
            return n < 2 ? i(n) : fib(n - 1) + fib(n - 2);
        }

        private String sum(int n, long b, double c, String t) {
            if (n == 0) {
                return s("end");
            }
            return t + n + sum(n - 1, b + l(1), c * d(2), t + "y") + b + c;
        }
    }

    public static final class Loops extends Sample {
        @Override
        Object test() {
            long total = 0;
            for (int k = 0; k < 3; k++) {
                for (long j = l(0); j < 2; j++) {
                    total += k * j + i(1);
                    if (z(k == 2)) {
                        break;
                    }
                }
                int reused = i(k);
                total += reused;
            }
            do {
                String reused = s("t" + total);
                total += reused.length();
            } while (i((int) total) < 20);
            switch (i(2)) {
                case 1: total++; break;
                case 2: total += l(100); // falls through
                case 3: total += l(1000); break;
                default: total = 0;
            }
            switch (s("b")) {
                case "a": return 0;
                case "b": total *= l(2); break;
                default: return 1;
            }
            return total;
        }
    }

    public static final class Exceptions extends Sample {
        @Override
        Object test() {
            for (int k = 0; k < 6; k++) {
                try {
                    log(nested(k));
                } catch (IllegalStateException | IllegalArgumentException e) {
                    log("caught " + e.getMessage() + i(k));
                } finally {
                    log("finally " + i(k));
                }
            }
            Throwable last = null;
            try {
                last = new Exception(s("not thrown"));
                Y.fail(new UnsupportedOperationException("u"));
            } catch (Error | RuntimeException e) {
                last = e;
            }
            try (Resource a = new Resource("a"); Resource b = new Resource("b")) {
                log(a.name + b.name + i(1));
                fail(new IllegalStateException("in try"));
            } catch (IllegalStateException e) {
                log(e.getMessage() + Arrays.toString(e.getSuppressed()));
            }
            return last;
        }

        final class Resource implements AutoCloseable {
            final String name;

            Resource(String name) {
                this.name = name;
            }

            @Override
            public void close() {
                log("close " + s(name));
                fail(new IllegalStateException("closing " + name));
            }
        }

        static void fail(RuntimeException e) {
            Y.fail(e);
        }

        int nested(int k) {
            int x = i(k);
            try {
                try {
                    if (k == 0) {
                        fail(new IllegalStateException("zero"));
                    }
                    x += i(10);
                    if (k == 1) {
                        throw new IllegalArgumentException("one");
                    }
                    if (k == 2) {
                        return x + i(1);
                    }
                } finally {
                    x += i(100);
                    log("inner " + x);
                }
                if (k == 3) {
                    fail(new NullPointerException("three"));
                }
            } catch (NullPointerException e) {
                x += e.getMessage().length() + i(1000);
                if (z(true)) {
                    return x;
                }
            } finally {
                log("outer " + x + s("."));
                if (k == 4) {
                    return i(-1);
                }
            }
            return x;
        }
    }

    public static final class Nulls extends Sample {
        @Override
        Object test() {
            String a = null;
            int[] b = null;
            Object c = i(1);
            Object[] d = z(true) ? new String[] {s("x")} : new Integer[] {i(1)};
            CharSequence e = z(false) ? new StringBuilder("sb") : s("str");
            log(c == null ? i(1) : i(2));
            if (z(true)) {
                a = s("a");
            }
            if (z(false)) {
                b = new int[i(1)];
            }
            return a + b + c + d[i(0)] + e + (Object) take(null, i(1), null, l(2));
        }

        static String take(String a, int b, Object c, long d) {
            return a + b + c + d + s("!");
        }
    }

    public static final class Wide extends Sample {
        @Override
        Object test() {
            return many(1, 2L, 3f, 4d, "5", new int[] {6}, (byte) 7, (short) 8, '9', true, 11L, 12d);
        }

        static String many(int a, long b, float c, double d, String e, int[] f, byte g, short h, char i, boolean j, long k, double l) {
            long m = l(a + b);
            double n = d(c + d);
            String o = e + s("q") + f[0];
            byte p = (byte) (g + i(300));
            v(null);
            return "" + a + b + c + d + e + f[0] + g + h + i + j + k + l + m + n + o + p;
        }
    }
}
