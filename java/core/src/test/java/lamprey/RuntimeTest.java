package lamprey;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import javax.tools.ToolProvider;
import lamprey.instrument.Monitors;
import lamprey.instrument.PinnedError;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(240)
class RuntimeTest {
    static List<PicoRuntime> runtimes() {
        return ThreadsTest.runtimes();
    }

    // ---- Policies.

    private static String order(Supplier<Scheduler> policy, int[] priorities) throws Exception {
        try (PicoRuntime r = PicoRuntime.builder().carriers(1).scheduler(policy).build()) {
            List<Integer> order = Collections.synchronizedList(new ArrayList<>());
            r.run(() -> {
                for (int k = 0; k < 5; k++) {
                    int me = k;
                    PicoThread t = new PicoThread(() -> {
                        order.add(me);
                        PicoThread.yield();
                        order.add(me);
                    });
                    t.setPriority(priorities[k]);
                    t.start();
                }
            });
            return order.toString();
        }
    }

    @Test
    void each_policy_has_its_order() throws Exception {
        int[] equal = {5, 5, 5, 5, 5};
        assertEquals("[0, 1, 2, 3, 4, 0, 1, 2, 3, 4]", order(Schedulers.fifo(), equal));
        assertEquals("[4, 3, 2, 1, 0, 4, 3, 2, 1, 0]", order(Schedulers.lifo(), equal));
        assertEquals("[3, 3, 1, 4, 1, 4, 0, 2, 0, 2]", order(Schedulers.priority(), new int[] {1, 5, 1, 10, 5}));
        assertEquals(order(Schedulers.random(9), equal), order(Schedulers.random(9), equal));
    }

    @Test
    void a_policy_of_the_program_is_used() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        Supplier<Scheduler> own = () -> new Scheduler() {
            private final ArrayDeque<PicoThread> threads = new ArrayDeque<>();

            @Override
            public void ready(PicoThread t) {
                threads.add(t);
            }

            @Override
            public PicoThread next() {
                asked.incrementAndGet();
                return threads.poll();
            }

            @Override
            public int size() {
                return threads.size();
            }
        };
        for (int carriers : new int[] {1, 3}) {
            try (PicoRuntime r = PicoRuntime.builder().carriers(carriers).scheduler(own).build()) {
                AtomicInteger ran = new AtomicInteger();
                r.run(() -> {
                    for (int k = 0; k < 100; k++) {
                        PicoThread.spawn(() -> {
                            PicoThread.yield();
                            ran.incrementAndGet();
                        });
                    }
                });
                assertEquals(100, ran.get());
            }
        }
        assertTrue(asked.get() > 200);
    }

    @Test
    void a_policy_that_fails_stops_the_runtime_and_run_throws() {
        Supplier<Scheduler> bad = () -> new Scheduler() {
            @Override
            public void ready(PicoThread t) {
                throw new UnsupportedOperationException("a fault of the policy");
            }

            @Override
            public PicoThread next() {
                return null;
            }

            @Override
            public int size() {
                return 0;
            }
        };
        // What is printed belongs to the test: in its output it would look like a failure.
        PrintStream err = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setErr(new PrintStream(printed, true));
        try (PicoRuntime r = PicoRuntime.builder().carriers(1).scheduler(bad).build()) {
            assertEquals("a fault of the policy", assertThrows(UnsupportedOperationException.class, () -> r.run(() -> {})).getMessage());
            assertThrows(IllegalStateException.class, () -> r.start(() -> {}));
        } finally {
            System.setErr(err);
        }
        assertTrue(printed.toString().contains("a carrier has failed, the runtime stops: java.lang.UnsupportedOperationException: a fault of the policy"), printed.toString());
    }

    @Test
    void wrong_settings_are_refused_with_the_value() {
        assertTrue(assertThrows(IllegalArgumentException.class, () -> PicoRuntime.builder().carriers(0)).getMessage().contains("0 carriers"));
        assertTrue(assertThrows(IllegalArgumentException.class, () -> Schedulers.named("fair", 1)).getMessage().contains("\"fair\""));
    }

    private static String refused(String property, String value) {
        String before = System.setProperty(property, value);
        try {
            return assertThrows(IllegalArgumentException.class, () -> Settings.apply(PicoRuntime.builder())).getMessage();
        } finally {
            if (before == null) {
                System.clearProperty(property);
            } else {
                System.setProperty(property, before);
            }
        }
    }

    @Test
    void wrong_properties_are_refused_with_name_and_value() {
        assertEquals("-Dlamprey.carriers=abc: this is no number; it says how many carriers", refused("lamprey.carriers", "abc"));
        assertTrue(refused("lamprey.carriers", "0").contains("0 carriers"));
        assertTrue(refused("lamprey.carrier", "1").startsWith("there is no property lamprey.carrier; there are lamprey.backend, lamprey.carriers"));
        assertEquals("-Dlamprey.simulate=x: this is no number; it says a seed", refused("lamprey.simulate", "x"));
        assertEquals("-Dlamprey.sites=yes: it is on or off", refused("lamprey.sites", "yes"));
        assertTrue(refused("lamprey.backend", "fibers").contains("there are coroutines, virtual, platform"));
        assertTrue(refused("lamprey.scheduler", "fair").contains("\"fair\""));
    }

    @Test
    void a_simulation_refuses_what_is_not_transformed(@TempDir Path folder) throws Exception {
        Path source = Files.write(folder.resolve("Outside.java"), "public class Outside implements Runnable { public void run() {} }".getBytes());
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, source.toString()));
        try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()}); PicoRuntime r = PicoRuntime.simulated(1)) {
            Runnable body = (Runnable) loader.loadClass("Outside").getDeclaredConstructor().newInstance();
            String message = assertThrows(IllegalStateException.class, () -> r.run(body)).getMessage();
            assertTrue(message.contains("Outside is not transformed") && message.contains("transform-tests") && message.contains("agent"), message);
            r.run(() -> {});
        }
    }

    // ---- Several carriers.

    @Test
    void other_carriers_steal_what_one_thread_has_started() throws Exception {
        try (PicoRuntime r = PicoRuntime.builder().carriers(3).build()) {
            Set<Thread> carriers = ConcurrentHashMap.newKeySet();
            r.run(() -> {
                // Each keeps its carrier busy until the others are at work: no carrier can do it alone.
                for (int k = 0; k < 3; k++) {
                    PicoThread.spawn(() -> {
                        carriers.add(Thread.currentThread());
                        Until.holds(() -> carriers.size() == 3);
                    });
                }
            });
            assertEquals(3, carriers.size());
        }
    }

    @ParameterizedTest
    @MethodSource("runtimes")
    void a_hundred_thousand_threads_in_a_tree_all_end(PicoRuntime given) {
        try (PicoRuntime r = given) {
            int depth = r.backend() == Backend.COROUTINES ? 16 : 9;
            AtomicInteger ended = new AtomicInteger();
            r.run(() -> tree(depth, ended));
            assertEquals((1 << depth) - 1, ended.get());
        }
    }

    private static void tree(int depth, AtomicInteger ended) {
        if (depth > 1) {
            PicoThread left = PicoThread.spawn(() -> tree(depth - 1, ended));
            tree(depth - 1, ended);
            try {
                left.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
        ended.incrementAndGet();
    }

    @Test
    void idle_carriers_are_woken_again_and_again() throws Exception {
        try (PicoRuntime r = PicoRuntime.builder().carriers(4).build()) {
            for (int i = 0; i < 3000; i++) {
                PicoThread t = r.start(() -> {});
                t.join();
            }
            for (int i = 0; i < 200; i++) {
                PicoThread[] few = new PicoThread[6];
                for (int k = 0; k < few.length; k++) {
                    int micros = k * 100;
                    few[k] = r.start(() -> Parking.parkNanos(micros * 1000));
                }
                for (PicoThread t : few) {
                    t.join();
                }
            }
        }
    }

    // ---- The end.

    @Test
    void who_joins_a_thread_of_a_closed_runtime_gets_an_exception() throws Exception {
        PicoRuntime r = PicoRuntime.builder().carriers(1).build();
        PicoThread t = r.start(Parking::park);
        Until.holds(() -> t.getWaitReason() == WaitReason.PARK);
        AtomicReference<Throwable> seen = new AtomicReference<>();
        Thread joiner = new Thread(() -> {
            try {
                t.join();
            } catch (Throwable e) {
                seen.set(e);
            }
        });
        joiner.start();
        Until.holds(() -> joiner.getState() == Thread.State.WAITING);
        r.shutdown();
        joiner.join();
        assertTrue(seen.get() instanceof IllegalStateException, "" + seen.get());
        assertThrows(IllegalStateException.class, t::join);
    }

    @Test
    void close_ends_the_carriers() throws Exception {
        PicoRuntime r = PicoRuntime.builder().carriers(3).build();
        r.run(() -> {});
        r.close();
        for (Carrier c : r.crew.carriers()) {
            c.join();
        }
    }

    // ---- Calls that block a kernel thread.

    @ParameterizedTest
    @MethodSource("runtimes")
    void a_blocking_call_returns_throws_and_is_interrupted(PicoRuntime given) throws Exception {
        try (PicoRuntime r = given) {
            assertEquals("x", r.call(() -> Blocking.call(() -> "x")));
            assertThrows(IOException.class, () -> r.call(() -> Blocking.call(() -> {
                throw new IOException("y");
            })));
            AtomicInteger inside = new AtomicInteger();
            PicoThread caller = new PicoThread(() -> {
                try {
                    Blocking.call(() -> {
                        inside.incrementAndGet();
                        Thread.sleep(1_000_000_000L);
                        return null;
                    });
                } catch (InterruptedException e) {
                    return;
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
                throw new AssertionError("not interrupted");
            });
            r.start(caller);
            Until.holds(() -> inside.get() == 1);
            caller.interrupt();
            caller.join();
        }
    }

    // ---- Suspensions that fail.

    @Test
    void a_thread_that_cannot_be_suspended_goes_on_and_nothing_is_left_of_the_wait() throws Exception {
        try (PicoRuntime r = PicoRuntime.builder().carriers(1).build()) {
            Object lock = new Object();
            r.call(() -> {
                PicoThread holder = PicoThread.spawn(() -> {
                    Monitors.enter(lock);
                    PicoThread.yield();
                    PicoThread.yield();
                    Monitors.exit(lock);
                });
                PicoThread.yield();
                for (Runnable blocks : Arrays.<Runnable>asList(Parking::park, () -> Parking.parkNanos(1_000_000_000_000L), () -> Monitors.enter(lock), PicoThread::yield)) {
                    // The comparator is called by a method of the JDK.
                    assertThrows(PinnedError.class, () -> new ArrayList<>(Arrays.asList(1, 2)).sort((a, b) -> {
                        blocks.run();
                        return 0;
                    }));
                    assertNull(PicoThread.currentThread().getWaitReason());
                }
                holder.join();
                Monitors.enter(lock);
                assertTrue(Monitors.holdsLock(lock));
                Monitors.exit(lock);
                Parking.unpark(PicoThread.currentThread());
                Parking.park();
                return null;
            });
            assertEquals(0, r.timers.size());
        }
    }

    @Test
    void threads_are_listed_while_they_block_and_not_after() throws Exception {
        try (PicoRuntime r = PicoRuntime.builder().carriers(2).build()) {
            PicoThread t = new PicoThread(Parking::park, "listed");
            r.start(t);
            Until.holds(() -> t.getState() == Thread.State.WAITING && r.threads().size() == 1);
            assertSame(t, r.threads().get(0));
            String dump = r.dump();
            assertTrue(dump.contains("\"listed\"") && dump.contains("parked"), dump);
            Parking.unpark(t);
            t.join();
            Until.holds(() -> r.threads().isEmpty());
        }
    }
}
