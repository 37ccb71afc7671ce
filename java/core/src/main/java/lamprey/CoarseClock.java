package lamprey;

/**
 * The time as {@link Watch} has last looked at it, ten times a second: what a wait notes when it begins, at the price of reading a field. In hundredths of a second, which
 * an int counts for a year; 0 until there is a watch.
 */
final class CoarseClock {
    private static final long UNIT = 10_000_000;
    private static final long START = System.nanoTime() - 2 * UNIT;
    private static volatile int now;

    private CoarseClock() {}

    /** Only by the watch, and where it begins. */
    static void set(long nanoTime) {
        now = (int) ((nanoTime - START) / UNIT);
    }

    static int now() {
        return now;
    }

    /** How long ago {@code then} was, in nanoseconds, within a tenth of a second; negative if that is not known. */
    static long since(int then) {
        int n = (int) ((System.nanoTime() - START) / UNIT);
        return then == 0 ? -1 : UNIT * Math.max(n - then, 0);
    }
}
