import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/** What Java 8 has, with a blocking call in each construct. */
public class Level {
    interface Greeter {
        default String greet(String whom) {
            return "hello " + Level.later(whom);
        }

        static Greeter polite() {
            return new Greeter() {
                @Override
                public String greet(String whom) {
                    return "good day, " + Greeter.super.greet(whom);
                }
            };
        }
    }

    enum Operation {
        PLUS {
            @Override
            int apply(int a, int b) {
                return later(a) + later(b);
            }
        },
        TIMES {
            @Override
            int apply(int a, int b) {
                return later(a) * b;
            }
        };

        abstract int apply(int a, int b);
    }

    private class Inner {
        private final int n;

        Inner(int n) {
            this.n = later(n) + outer;
        }
    }

    private int outer = 5;

    static <T> T later(T value) {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return value;
    }

    static String day(String name) {
        switch (later(name)) {
            case "monday":
                return "first";
            case "Aa":
            case "BB":
                return "same hash";
            default:
                return later("other");
        }
    }

    static String resources() throws Exception {
        List<String> log = new ArrayList<>();
        try (AutoCloseable a = () -> log.add(later("close a")); AutoCloseable b = () -> log.add(later("close b"))) {
            log.add("body " + later(a != b));
            throw new IllegalStateException(later("thrown"));
        } catch (IllegalStateException e) {
            log.add(e.getMessage() + e.getSuppressed().length);
        } finally {
            log.add(later("finally"));
        }
        return log.toString();
    }

    static int sum(int... all) {
        int sum = 0;
        for (int n : all) {
            sum += later(n);
        }
        return sum;
    }

    private static synchronized String locked() {
        synchronized (later(Level.class)) {
            return later("locked");
        }
    }

    static void run() throws Exception {
        System.out.println(Greeter.polite().greet("world") + Operation.PLUS.apply(2, 3) + Operation.TIMES.apply(4, 5));
        System.out.println(new Level().new Inner(later(7)).n + day("monday") + day("Aa") + day("BB") + day("x"));
        System.out.println(resources() + sum(1, 2, 3) + locked());
        Function<Integer, Supplier<Integer>> twice = n -> () -> later(n) * 2;
        IntSupplier one = () -> later(1);
        Function<String, Integer> length = String::length;
        Supplier<List<String>> list = ArrayList::new;
        Function<Integer, Integer> reference = Level::later;
        List<String> made = list.get();
        made.add("x" + twice.apply(21).get() + one.getAsInt() + length.apply("four") + reference.apply(9));
        System.out.println(made + Arrays.toString(new int[] {later(1), later(2)}));
        long wide = later(1L) + later(2) * later(3.5).longValue();
        outer:
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < 3; k++) {
                if (later(k) == 1) {
                    continue outer;
                }
                wide += later(i) > 1 ? 100 : k;
            }
        }
        System.out.println("wide " + wide);
    }

    public static void main(String[] args) throws Exception {
        run();
        Thread[] threads = new Thread[20];
        int[] done = {0};
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                synchronized (done) {
                    done[0] += later(1);
                }
            });
            threads[i].start();
        }
        for (Thread t : threads) {
            t.join();
        }
        System.out.println("threads " + done[0]);
    }
}
