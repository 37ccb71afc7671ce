package lamprey.instrument;

/** Results that are no references, for the primitives of tests. */
public final class Delivery {
    private Delivery() {}

    /** What the primitive returns that the coroutine waits for, when it is resumed next. */
    public static void put(Execution e, long prim, double real) {
        e.resume.prim = prim;
        e.resume.real = real;
    }
}
