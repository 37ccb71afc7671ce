package lamprey.bench;

import java.util.concurrent.TimeUnit;
import lamprey.bench.light.LightWork;
import lamprey.bench.plain.PlainWork;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** What it costs that a method could suspend: fib(36), all of whose calls are transformed, against the same method as it was compiled. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
public class FibBench {
    private static final int N = 36;
    private static final int WARM = 20_000;

    private final int[] result = new int[1];

    /** Both methods have yielded, at each of their calls: the compiler must not take that for impossible. */
    @Setup
    public void yieldFirst() {
        Pico.one().run(LightWork.fib(2, WARM, true, result));
        for (int i = 0; i < WARM; i++) {
            PlainWork.fib(2, i & 1);
        }
    }

    /** Not transformed. */
    @Benchmark
    public int fibPlain() {
        return PlainWork.fib(N, -1);
    }

    /** Transformed, and run by a light thread. */
    @Benchmark
    public int fibPico() {
        Pico.one().run(LightWork.fib(N, 1, false, result));
        return result[0];
    }
}
