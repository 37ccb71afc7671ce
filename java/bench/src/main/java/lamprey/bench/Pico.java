package lamprey.bench;

import lamprey.PicoRuntime;

/** The runtime that the light threads of the benchmarks run on. */
final class Pico {
    private Pico() {}

    /** One carrier, as the peers have. */
    static PicoRuntime one() {
        return One.RUNTIME;
    }

    private static final class One {
        static final PicoRuntime RUNTIME = PicoRuntime.builder().carriers(1).build();
    }
}
