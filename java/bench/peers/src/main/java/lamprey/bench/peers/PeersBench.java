package lamprey.bench.peers;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** The peers that are not part of the JDK. The same numbers of threads and yields as in {@code lamprey.bench}. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class PeersBench {
    private static final int THREADS = 100;
    private static final int YIELDS = 1000;
    private static final int SPAWNS = 100_000;
    private static final int FIB = 36;

    /** How deep the calls are in which a thread yields. */
    @State(Scope.Benchmark)
    public static class Depth {
        /** Calls. */
        @Param({"1", "20"})
        public int depth;
    }

    /** kotlinx.coroutines. */
    @Benchmark
    @OperationsPerInvocation(THREADS * YIELDS)
    public void yieldKotlinx(Depth d) {
        Coroutines.yields(THREADS, YIELDS, d.depth);
    }

    /** Kilim. */
    @Benchmark
    @OperationsPerInvocation(THREADS * YIELDS)
    public void yieldKilim(Depth d) {
        KilimWork.yields(THREADS, YIELDS, d.depth);
    }

    /** kotlinx.coroutines. */
    @Benchmark
    @OperationsPerInvocation(SPAWNS)
    public void spawnKotlinx() {
        Coroutines.spawns(SPAWNS);
    }

    /** Kilim. */
    @Benchmark
    @OperationsPerInvocation(SPAWNS)
    public void spawnKilim() {
        KilimWork.spawns(SPAWNS);
    }

    /** kotlinx.coroutines. */
    @Benchmark
    @OutputTimeUnit(TimeUnit.MILLISECONDS)
    public int fibKotlinx() {
        return Coroutines.fibonacci(FIB);
    }

    /** Kilim. */
    @Benchmark
    @OutputTimeUnit(TimeUnit.MILLISECONDS)
    public int fibKilim() {
        return KilimWork.fibonacci(FIB);
    }
}
