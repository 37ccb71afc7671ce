package lamprey.tests.weave.samples;

import java.util.ArrayList;
import java.util.List;
import lamprey.tests.weave.run.Y;

/** Constructors, virtual calls, interfaces. */
public final class Objects {
    private Objects() {}

    public static final class News extends Sample {
        @Override
        Object test() {
            StringBuilder b = new StringBuilder(s("a").concat(new String(s("b") + new StringBuilder(s("c")).append(i(1)))));
            new ArrayList<>(i(3));
            new Pair(i(1), l(2));
            Pair p = new Pair(i(1), z(true) ? l(2) : l(3));
            Object o = z(false) ? new Pair(i(4), l(5)) : new Pair(new Pair(i(6), l(7)).a, new Pair(i(8), l(9)).b);
            return b + "" + p + o + take(1, new Pair(i(10), l(11)), 2.5, new Pair(i(12), l(13))) + new Pair(i(14), 15L).sum(i(16));
        }

        static String take(int a, Pair p, double d, Pair q) {
            return "" + a + p + d + q;
        }
    }

    static class Pair {
        final int a;
        final long b;

        Pair(int a, long b) {
            this.a = a;
            v(a);
            this.b = b + l(b);
        }

        static void v(Object o) {
            Y.y(o);
        }

        static long l(long x) {
            return (Long) Y.y(x);
        }

        long sum(int c) {
            return a + b + c;
        }

        @Override
        public String toString() {
            return "(" + a + "," + b + ")";
        }
    }

    static class Triple extends Pair {
        final String c;
        private final List<Object> list = new ArrayList<>();

        Triple(int a, String c) {
            super(a, 100L + a);
            list.add(l(5));
            this.c = c + Y.y("!");
            list.add(this.c);
        }

        Triple(String c) {
            this(7, c);
            list.add(Y.y("this"));
        }

        @Override
        long sum(int c) {
            return super.sum(c) + l(1) + super.sum((int) l(2));
        }

        @Override
        public String toString() {
            return super.toString() + c + list;
        }
    }

    public static final class Constructors extends Sample {
        @Override
        Object test() {
            Pair p = new Triple(1, "one");
            Triple q = new Triple(s("two"));
            Pair r = new Pair(1, 2) {
                final long extra = l(33);

                @Override
                long sum(int c) {
                    return extra + super.sum(i(c));
                }
            };
            return p + " " + q + p.sum(1) + q.sum(i(2)) + r.sum(3) + (i(1) + new Triple("x").sum(1));
        }
    }

    interface Shape {
        long area(long x);

        default long twice(long x) {
            return area(x) + Objects.Pair.l(1) + area(x + 1) + helper(x);
        }

        static long helper(long x) {
            return Objects.Pair.l(x) + Objects.Pair.l(2 * x);
        }
    }

    public static final class Virtual extends Sample implements Shape {
        @Override
        Object test() {
            Shape[] shapes = {this, x -> x + l(7), new Square(), x -> x};
            long total = 0;
            for (Shape s : shapes) {
                total += s.twice(total) + s.area(i(3)) + pick(shapes, 1).area(2);
            }
            return total;
        }

        static Shape pick(Shape[] shapes, int n) {
            return shapes[i(n)];
        }

        @Override
        public long area(long x) {
            return 3 * x + l(1);
        }
    }

    static class Square implements Shape {
        @Override
        public long area(long x) {
            return x * Pair.l(x);
        }

        @Override
        public long twice(long x) {
            return Shape.super.twice(Pair.l(x)) - 1;
        }
    }
}
