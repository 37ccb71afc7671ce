import module java.base;

/** What came until Java 25. */
public class Level {
    static class Base {
        final String made;

        Base(String what) {
            made = later(what);
        }
    }

    /** Statements before the call of the other constructor. */
    static class Derived extends Base {
        final int length;

        Derived(String what) {
            if (what.isEmpty()) {
                throw new IllegalArgumentException("empty");
            }
            var trimmed = what.trim();
            length = trimmed.length();
            super(trimmed);
            System.out.println(later(made) + later(length));
        }
    }

    record Point(int x, int y) {}

    static <T> T later(T value) {
        try {
            Thread.sleep(1);
        } catch (InterruptedException _) {
            throw new IllegalStateException();
        }
        return value;
    }

    static int x(Object o) {
        return switch (o) {
            case Point(var x, _) when later(x) > 0 -> later(x);
            case Point _ -> -1;
            default -> later(0);
        };
    }

    public static void main(String[] args) {
        System.out.println(new Derived(" trimmed ").length + x(new Point(3, 4)) + x(new Point(-3, 4)) + x("none"));
        try {
            new Derived("");
        } catch (IllegalArgumentException e) {
            System.out.println(later(e.getMessage()));
        }
        var lock = new ReentrantLock();
        lock.lock();
        try {
            System.out.println(later(List.of(1, 2)).reversed());
        } finally {
            lock.unlock();
        }
    }
}
