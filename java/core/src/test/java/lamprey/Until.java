package lamprey;

import java.util.function.BooleanSupplier;

/** Waits for what another thread does; gives up after a time that is long enough for a loaded machine. */
final class Until {
    private Until() {}

    static void holds(BooleanSupplier condition) {
        long end = System.nanoTime() + 120_000_000_000L;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("waited for 120 s in vain");
            }
            Thread.yield();
        }
    }
}
