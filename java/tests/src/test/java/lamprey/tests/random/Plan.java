package lamprey.tests.random;

import java.util.function.IntPredicate;

/** Which calls of primitives suspend, by their order in the run. */
final class Plan {
    static final Plan NEVER = new Plan("never", n -> false);
    static final Plan ALWAYS = new Plan("always", n -> true);

    private final String name;
    private final IntPredicate suspends;

    private Plan(String name, IntPredicate suspends) {
        this.name = name;
        this.suspends = suspends;
    }

    static Plan only(int call) {
        return new Plan("only at primitive " + call, n -> n == call);
    }

    /** Half of them. */
    static Plan random(int seed) {
        return new Plan("random " + seed, n -> {
            int h = (n + 1) * 0x9E3779B9 ^ seed * 0x85EBCA6B;
            return ((h ^ h >>> 15) * 0x2C1B3C6D & 0x10000) != 0;
        });
    }

    boolean suspendsAt(int call) {
        return suspends.test(call);
    }

    @Override
    public String toString() {
        return name;
    }
}
