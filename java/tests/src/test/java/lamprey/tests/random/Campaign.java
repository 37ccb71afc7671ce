package lamprey.tests.random;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Checks many programs on some kernel threads, until enough methods are checked or one fails. */
final class Campaign {
    private static final int METHODS_OF_A_PROGRAM = 60;
    /** No program takes that long: something hangs. */
    private static final long SECONDS_WITHOUT_PROGRESS = 120;

    private final Weaver weaver;
    private final long firstSeed;
    private final int wanted;
    private final AtomicInteger started = new AtomicInteger();
    private final LinkedBlockingQueue<String> events = new LinkedBlockingQueue<>();
    private volatile String failure;
    private volatile boolean ended;

    final int[] features = new int[Feature.values().length];
    final long[] suspendedIn = new long[Where.values().length];
    int programs;
    int methods;
    long runs;
    long suspensions;

    /** How many smaller programs are tried when one has failed. */
    private final int attempts;

    private Campaign(Weaver weaver, long firstSeed, int wanted, int attempts) {
        this.attempts = attempts;
        this.weaver = weaver;
        this.firstSeed = firstSeed;
        this.wanted = wanted;
    }

    /** Runs at least that many methods. {@link #failure()} says how it ended. */
    static Campaign run(Weaver weaver, long firstSeed, int methods, int threads, int attempts) throws InterruptedException {
        Campaign c = new Campaign(weaver, firstSeed, methods, attempts);
        List<Worker> workers = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Worker w = new Worker(c::work, "random methods " + i);
            w.start();
            workers.add(w);
        }
        c.await(threads);
        return c;
    }

    /** The report of the failure; null if there is none. */
    String failure() {
        return failure;
    }

    private void await(int threads) throws InterruptedException {
        for (int left = threads; left > 0;) {
            String event = events.poll(SECONDS_WITHOUT_PROGRESS, TimeUnit.SECONDS);
            if (event == null) {
                failure = failure == null ? "no progress: a transformed program hangs (seeds up to " + (firstSeed + started.get()) + ")" : failure;
                return;
            }
            if (event.equals("end")) {
                left--;
            } else if (event.equals("stuck")) {
                return;
            }
        }
    }

    private void work() {
        World world = World.of();
        Check check = new Check(world, weaver);
        try {
            while (!ended) {
                int n = started.getAndIncrement();
                if (n * METHODS_OF_A_PROGRAM >= wanted) {
                    break;
                }
                program(check, world, firstSeed + n);
                events.add("program");
            }
        } catch (Throwable t) {
            failure = "the generator is broken: " + t;
            t.printStackTrace();
        }
        collect(check, world);
        ended = true;
        events.add("end");
    }

    private void program(Check check, World world, long seed) {
        world.stuck = () -> {
            failure = failure == null ? "seed " + seed + ": does not end when transformed" : failure;
            events.add("stuck");
            while (true) {
                java.util.concurrent.locks.LockSupport.park();
            }
        };
        Program p = new Program(seed, METHODS_OF_A_PROGRAM);
        Check.Failure f = check.of(p);
        if (f == null) {
            synchronized (this) {
                programs++;
                methods += p.methods.size();
            }
            return;
        }
        ended = true;
        failure = "seed " + seed + ": method " + f.method + " " + f.what;
        int only = f.method;
        Shrinker.shrink(p, smaller -> {
            events.add("attempt");
            Check.Failure now = check.of(smaller, only);
            return now != null && (now.method < 0) == (only < 0);
        }, attempts);
        Check.Failure least = check.of(p, only);
        failure += "\n\nshrunk: " + (least == null ? "?" : "method " + least.method + " " + least.what) + "\n" + Listing.of(p);
    }

    private synchronized void collect(Check check, World world) {
        runs += check.runs;
        suspensions += world.suspensions;
        for (int i = 0; i < features.length; i++) {
            features[i] += check.features[i];
        }
        for (int i = 0; i < suspendedIn.length; i++) {
            suspendedIn[i] += world.suspendedIn[i];
        }
    }

    @Override
    public String toString() {
        return methods + " methods in " + programs + " programs, " + runs + " runs, " + suspensions + " suspensions";
    }
}
