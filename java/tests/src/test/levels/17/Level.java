import java.util.List;

/** What came until Java 17. */
public class Level {
    sealed interface Shape permits Circle, Square {}

    record Circle(double radius) implements Shape {
        Circle {
            if (later(radius) < 0) {
                throw new IllegalArgumentException("radius");
            }
        }
    }

    record Square(double side, String name) implements Shape {
        Square(double side) {
            this(side, "square " + side);
        }

        String slow() {
            return later(name);
        }
    }

    /** Nest mates call each other's private methods. */
    static class Nest {
        private int secret() {
            return later(42);
        }

        private static int shared() {
            return later(1);
        }
    }

    interface Private {
        private int hidden() {
            return later(3);
        }

        default int shown() {
            return hidden() + 1;
        }
    }

    static <T> T later(T value) {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return value;
    }

    static double area(Shape s) {
        if (s instanceof Circle c && later(c.radius()) > 1) {
            return 3 * later(c.radius());
        }
        return s instanceof Square q ? later(q.side()) * q.side() : -1;
    }

    static int day(String name) {
        return switch (later(name)) {
            case "monday", "tuesday" -> later(1);
            case "sunday" -> {
                int n = later(5);
                try {
                    yield n + later(2);
                } finally {
                    System.out.println("a " + later(name));
                }
            }
            default -> throw new IllegalArgumentException(later(name));
        };
    }

    public static void main(String[] args) throws ReflectiveOperationException {
        var shapes = List.of(new Circle(later(2.0)), new Circle(0.5), new Square(later(3.0)));
        for (var s : shapes) {
            System.out.println(s + " " + area(s) + " " + s.equals(later(s)) + s.hashCode());
        }
        System.out.println(new Square(2).slow() + new Nest().secret() + Nest.shared() + new Private() { }.shown());
        System.out.println(day("monday") + " " + day("sunday") + """
             text \
            block""" + later('c') + later(1.5f) + later((byte) 3));
        System.out.println(Nest.class.getDeclaredMethod("secret").invoke(new Nest()));
        try {
            new Circle(-1);
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage());
        }
        try {
            day("never");
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage());
        }
        enum Local { A, B }
        for (Local l : Local.values()) {
            System.out.println(switch (later(l)) {
                case A -> "a" + later(1);
                case B -> "b";
            });
        }
    }
}
