package lamprey;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import lamprey.instrument.Clock;
import lamprey.instrument.Monitors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(240)
class SimulationTest {
    /** What a small program with yields, sleeps, a monitor and joins does, in order. */
    private static String run(long seed) throws Exception {
        try (PicoRuntime r = PicoRuntime.simulated(seed)) {
            return r.call(() -> {
                List<String> order = new ArrayList<>();
                Object lock = new Object();
                List<PicoThread> all = new ArrayList<>();
                for (int k = 0; k < 6; k++) {
                    int me = k;
                    all.add(PicoThread.spawn(() -> work(me, lock, order)));
                }
                for (PicoThread t : all) {
                    t.join();
                }
                return order + " at " + Clock.nanoTime();
            });
        }
    }

    private static void work(int me, Object lock, List<String> order) {
        try {
            for (int i = 0; i < 5; i++) {
                Monitors.enter(lock);
                order.add(me + "in");
                PicoThread.yield();
                order.add(me + "out");
                Monitors.exit(lock);
                PicoThread.sleep(me % 3);
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void the_same_seed_gives_the_same_order_and_time() throws Exception {
        Set<String> seen = new HashSet<>();
        for (long seed = 0; seed < 20; seed++) {
            String first = run(seed);
            assertEquals(first, run(seed));
            seen.add(first);
        }
        assertTrue(seen.size() > 10, "20 seeds have given only " + seen.size() + " different runs");
    }

    @Test
    void a_sleep_of_a_year_takes_no_time_and_the_clock_shows_it() throws Exception {
        long day = 24L * 3600 * 1000;
        long real = System.nanoTime();
        try (PicoRuntime r = PicoRuntime.simulated(1)) {
            long slept = r.call(() -> {
                long before = Clock.currentTimeMillis();
                PicoThread.sleep(365 * day);
                return Clock.currentTimeMillis() - before;
            });
            assertEquals(365 * day, slept, 1);
        }
        assertTrue(System.nanoTime() - real < day * 1_000_000);
    }

    @Test
    void timers_end_in_the_order_of_their_moments() throws Exception {
        try (PicoRuntime r = PicoRuntime.simulated(5)) {
            List<Integer> order = r.call(() -> {
                List<Integer> woken = new ArrayList<>();
                List<PicoThread> all = new ArrayList<>();
                for (int k = 0; k < 100; k++) {
                    int millis = k * 37 % 100;
                    all.add(PicoThread.spawn(() -> {
                        try {
                            PicoThread.sleep(millis + 1);
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
                        woken.add(millis);
                    }));
                }
                for (PicoThread t : all) {
                    t.join();
                }
                return woken;
            });
            List<Integer> sorted = new ArrayList<>(order);
            sorted.sort(null);
            assertEquals(100, order.size());
            assertEquals(sorted, order);
        }
    }

    @Test
    void a_loop_that_yields_until_some_time_ends() throws Exception {
        try (PicoRuntime r = PicoRuntime.simulated(1)) {
            assertTrue(r.call(() -> {
                long end = Clock.nanoTime() + 3_000_000;
                while (Clock.nanoTime() < end) {
                    PicoThread.yield();
                }
                return true;
            }));
        }
    }

    @Test
    void a_deadlock_is_reported_with_all_threads() {
        try (PicoRuntime r = PicoRuntime.simulated(1)) {
            Object a = new Object();
            Object b = new Object();
            DeadlockError e = assertThrows(DeadlockError.class, () -> r.run(() -> {
                new PicoThread(() -> both(a, b), "first").start();
                new PicoThread(() -> both(b, a), "second").start();
            }));
            assertTrue(e.getMessage().contains("\"first\"") && e.getMessage().contains("\"second\""), e.getMessage());
            assertTrue(e.getMessage().contains("entering a monitor: java.lang.Object@"), e.getMessage());
            assertTrue(e.getMessage().contains("lamprey.SimulationTest.both(SimulationTest.java:"), e.getMessage());
        }
    }

    private static void both(Object first, Object second) {
        Monitors.enter(first);
        PicoThread.yield();
        PicoThread.yield();
        PicoThread.yield();
        Monitors.enter(second);
        Monitors.exit(second);
        Monitors.exit(first);
    }

    @Test
    void a_call_in_a_kernel_thread_is_no_deadlock() throws Exception {
        try (PicoRuntime r = PicoRuntime.simulated(1)) {
            assertEquals("called", r.call(() -> Blocking.call(() -> {
                Thread.sleep(20);
                return "called";
            })));
        }
    }
}
