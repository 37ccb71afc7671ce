package lamprey.bench;

import java.util.concurrent.TimeUnit;
import lamprey.bench.light.LightWork;
import lamprey.bench.plain.Kind;
import lamprey.bench.plain.PlainWork;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** A hundred threads on one kernel thread yield to each other: the time of one yield. Those of the JDK's virtual threads need JDK 21. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class YieldBench {
    private static final int THREADS = 100;
    private static final int YIELDS = 1000;

    /** How deep the calls are in which a thread yields. */
    @Param({"1", "20"})
    public int depth;

    /** This library. */
    @Benchmark
    @OperationsPerInvocation(THREADS * YIELDS)
    public void yieldPico() {
        Pico.one().run(LightWork.yields(THREADS, YIELDS, depth));
    }

    /** Kernel threads, which run on all processors. */
    @Benchmark
    @OperationsPerInvocation(THREADS * YIELDS)
    public void yieldPlatform() throws InterruptedException {
        Kind.PLATFORM.run(PlainWork.yields(Kind.PLATFORM, THREADS, YIELDS, depth));
    }

    /** Virtual threads with their own scheduler. */
    @Benchmark
    @OperationsPerInvocation(THREADS * YIELDS)
    public void yieldVirtual() throws InterruptedException {
        Kind.VIRTUAL.run(PlainWork.yields(Kind.VIRTUAL, THREADS, YIELDS, depth));
    }

    /** Virtual threads with a scheduler of one kernel thread. */
    @Benchmark
    @OperationsPerInvocation(THREADS * YIELDS)
    public void yieldVirtualOne() throws InterruptedException {
        Kind.VIRTUAL_ONE.run(PlainWork.yields(Kind.VIRTUAL_ONE, THREADS, YIELDS, depth));
    }
}
