package lamprey.tests.random;

/** A local variable. Variables of disjoint blocks share slots. */
final class Var {
    final Kind kind;
    final int slot;
    /** Counts a loop: the program must not change it. */
    final boolean counter;

    Var(Kind kind, int slot, boolean counter) {
        this.kind = kind;
        this.slot = slot;
        this.counter = counter;
    }
}
