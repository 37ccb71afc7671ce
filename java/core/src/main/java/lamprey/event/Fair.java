package lamprey.event;

import lamprey.PicoRuntime;

/** Random numbers for fair choices: a hash of the clock, which in a simulation is the same in each run. */
final class Fair {
    private Fair() {}

    /** A number from 0 to {@code n - 1}. */
    static int below(int n) {
        long x = PicoRuntime.nanoTime() * 0x9E3779B97F4A7C15L;
        x = (x ^ x >>> 32) * 0xD6E8FEB86659FD93L;
        return (int) (((x >>> 32) * n) >>> 32);
    }
}
