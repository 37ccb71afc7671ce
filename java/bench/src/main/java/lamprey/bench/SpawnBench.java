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
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** A thread starts others, a hundred at a time, and waits for their end: the time of one from start to end. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class SpawnBench {
    private static final int THREADS = 100_000;
    private static final int FEW = 1000;

    /** This library. */
    @Benchmark
    @OperationsPerInvocation(THREADS)
    public void spawnPico() {
        Pico.one().run(LightWork.spawns(THREADS));
    }

    /** Kernel threads. */
    @Benchmark
    @OperationsPerInvocation(FEW)
    public void spawnPlatform() throws InterruptedException {
        Kind.PLATFORM.run(PlainWork.spawns(Kind.PLATFORM, FEW));
    }

    /** Virtual threads with their own scheduler. */
    @Benchmark
    @OperationsPerInvocation(THREADS)
    public void spawnVirtual() throws InterruptedException {
        Kind.VIRTUAL.run(PlainWork.spawns(Kind.VIRTUAL, THREADS));
    }

    /** Virtual threads with a scheduler of one kernel thread. */
    @Benchmark
    @OperationsPerInvocation(THREADS)
    public void spawnVirtualOne() throws InterruptedException {
        Kind.VIRTUAL_ONE.run(PlainWork.spawns(Kind.VIRTUAL_ONE, THREADS));
    }
}
