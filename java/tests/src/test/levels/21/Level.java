import java.util.ArrayList;
import java.util.List;

/** What came until Java 21. */
public class Level {
    sealed interface Tree<T> permits Leaf, Node {}

    record Leaf<T>(T value) implements Tree<T> {}

    record Node<T>(Tree<T> left, Tree<T> right) implements Tree<T> {}

    enum Colour { RED, GREEN }

    static <T> T later(T value) {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return value;
    }

    static boolean slow(int n) {
        return later(n) > 10;
    }

    static int sum(Tree<Integer> t) {
        return switch (later(t)) {
            case Leaf<Integer>(Integer v) when slow(v) -> 1000;
            case Leaf<Integer>(var v) -> later(v);
            case Node<Integer>(Leaf<Integer>(var a), Leaf<Integer>(var b)) -> later(a) + later(b);
            case Node<Integer>(var l, var r) -> sum(l) + sum(r);
        };
    }

    static String describe(Object o) {
        return switch (o) {
            case null -> "null" + later(0);
            case String s when later(s.length()) > 3 -> "long " + later(s);
            case String s -> "short " + s;
            case Integer i when slow(i) -> "big";
            case Integer i -> "int " + later(i);
            case int[] a -> "array " + later(a.length);
            case Colour.RED -> "red";
            case Colour c -> "colour " + later(c);
            default -> "other";
        };
    }

    public static void main(String[] args) throws Exception {
        System.out.println(sum(new Node<>(new Node<>(new Leaf<>(1), new Leaf<>(2)), new Leaf<>(later(3)))) + sum(new Leaf<>(11)));
        Object[] all = {null, "four", "x", 5, 50, new int[2], Colour.RED, Colour.GREEN, 1.0};
        for (Object o : all) {
            System.out.println(describe(o));
        }
        List<Thread> threads = new ArrayList<>();
        int[] done = {0};
        for (int i = 0; i < 10; i++) {
            threads.add(Thread.ofVirtual().start(() -> {
                synchronized (done) {
                    done[0] += later(1);
                }
            }));
        }
        for (Thread t : threads) {
            t.join();
        }
        System.out.println("virtual " + done[0] + (later(all[3]) instanceof Integer n && n == 5));
    }
}
