package lamprey;

/** The clock of a simulation: counts steps, and jumps when nothing is ready. Only the one carrier touches it. */
final class VirtualClock {
    /** So that a loop that yields until some time ends. */
    private static final long STEP = 1_000;
    /** So that a loop that only reads the clock ends. */
    private static final long READ = 50;
    /** Some day, the same in each run. */
    private static final long START = 1_000_000_000_000_000_000L;

    private long nanos = START;
    /** The real time up to which the virtual one has followed it; 0 while it does not. */
    private long followed;

    long nanos() {
        return nanos;
    }

    void step() {
        nanos += STEP;
    }

    /** A program asks for the time. */
    long read() {
        nanos += READ;
        return nanos;
    }

    void jump(long to) {
        nanos = Math.max(nanos, to);
    }

    /** The program waits for something real: meanwhile the clock runs as real time does. */
    void follow() {
        long now = System.nanoTime();
        if (followed != 0) {
            nanos += now - followed;
        }
        followed = now;
    }

    void unfollow() {
        followed = 0;
    }
}
