package lamprey.tests.random;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A random program: an interface {@code gen.I} with default and static methods, classes {@code gen.B}, {@code gen.S}, {@code gen.U} that inherit
 * in this order and override, {@code gen.G} with static methods and lambdas. Fields are named after their types. Each method may call all others.
 */
final class Program {
    static final String I = "gen/I", B = "gen/B", S = "gen/S", U = "gen/U", G = "gen/G", GO = "gen/Go";
    private static final Kind[] FIELDS =
        {Kind.INT, Kind.LONG, Kind.FLOAT, Kind.DOUBLE, Kind.STRING, Kind.OBJECT, Kind.INTS, Kind.LONGS, Kind.OBJECTS, Kind.BASE};

    final long seed;
    final List<Meth> methods = new ArrayList<>();
    final List<Meth> constructors = new ArrayList<>();
    final List<Meth> lambdas = new ArrayList<>();
    private final Random random;

    Program(long seed, int size) {
        this.seed = seed;
        this.random = new Random(seed * 0x9E3779B97F4A7C15L);
        declare(size);
        for (Meth m : methods) {
            Bodies.write(new Scope(random, this, m, budget()));
        }
    }

    static Kind[] fields() {
        return FIELDS;
    }

    /** Name of the field of a kind; of an instance or static. */
    static String field(Kind k) {
        return "f" + k.stack().name().toLowerCase(java.util.Locale.ROOT);
    }

    private int budget() {
        return random.nextInt(80) == 0 ? 350 : random.nextInt(10) == 0 ? 45 : 6 + random.nextInt(15);
    }

    private void declare(int size) {
        for (int i = 0; i < 6; i++) {
            boolean base = i < 2;
            String owner = base ? B : i < 4 ? S : U;
            Meth c = add(Meth.Role.CONSTRUCTOR, owner, "<init>", constructorParams(i), Kind.VOID);
            constructors.add(c);
            // The second constructor of each class calls the first; the first calls one of the super class.
            int above = base ? 0 : i - 2 + random.nextInt(2);
            c.delegate = i % 2 == 1 ? constructors.get(i - 1) : base ? null : constructors.get(above);
        }
        for (int i = 0; i < 3; i++) {
            add(Meth.Role.PURE, G, "p" + i, params(3), result());
            Kind[] captured = params(3);
            Kind[] all = java.util.Arrays.copyOf(captured, captured.length + 2);
            all[captured.length] = Kind.OBJECT;
            all[captured.length + 1] = Kind.LONG;
            lambdas.add(add(Meth.Role.LAMBDA, G, "lambda$" + i, all, Kind.OBJECT));
            add(Meth.Role.PRIVATE, B, "r" + i, params(4), result());
            add(Meth.Role.INTERFACE_STATIC, I, "i" + i, params(4), result());
            family(Meth.Role.DEFAULT, I, "d" + i);
        }
        for (int i = 0; i < 4; i++) {
            family(Meth.Role.VIRTUAL, B, "v" + i);
        }
        while (methods.size() < size) {
            add(Meth.Role.STATIC, G, "s" + methods.size(), params(6), result());
        }
    }

    /** A method and, perhaps, methods that override it. */
    private void family(Meth.Role role, String owner, String name) {
        Kind[] params = params(4);
        Kind result = result();
        add(role, owner, name, params, result);
        if (random.nextInt(2) == 0) {
            add(Meth.Role.VIRTUAL, S, name, params, result);
        }
        if (random.nextInt(2) == 0) {
            add(Meth.Role.VIRTUAL, U, name, params, result);
        }
    }

    private Meth add(Meth.Role role, String owner, String name, Kind[] params, Kind result) {
        Meth m = new Meth(role, owner, name, params, result, methods.size());
        methods.add(m);
        return m;
    }

    /** Of different lengths, so that the constructors of a class differ. */
    private Kind[] constructorParams(int number) {
        Kind[] all = new Kind[number % 2 == 0 ? 1 + random.nextInt(2) : 3 + random.nextInt(2)];
        for (int i = 0; i < all.length; i++) {
            all[i] = Kind.DATA[random.nextInt(Kind.DATA.length)];
        }
        return all;
    }

    private Kind[] params(int limit) {
        Kind[] all = new Kind[random.nextInt(limit)];
        for (int i = 0; i < all.length; i++) {
            all[i] = Kind.DATA[random.nextInt(Kind.DATA.length)];
        }
        return all;
    }

    private Kind result() {
        return random.nextInt(6) == 0 ? Kind.VOID : Kind.DATA[random.nextInt(Kind.DATA.length)];
    }
}
