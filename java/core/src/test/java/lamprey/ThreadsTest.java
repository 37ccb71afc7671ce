package lamprey;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(240)
class ThreadsTest {
    /** Every kind of runtime that this JVM has. */
    static List<PicoRuntime> runtimes() {
        List<PicoRuntime> all = new ArrayList<>();
        all.add(PicoRuntime.builder().carriers(1).build());
        all.add(PicoRuntime.builder().carriers(3).build());
        all.add(PicoRuntime.builder().carriers(1).scheduler(Schedulers.lifo()).build());
        all.add(PicoRuntime.builder().carriers(3).scheduler(Schedulers.random(7)).build());
        all.add(PicoRuntime.builder().carriers(2).scheduler(Schedulers.priority()).build());
        PicoRuntime simulated = PicoRuntime.simulated(3);
        // The tests start and wake threads from outside: a simulation must not take their absence for a deadlock.
        simulated.external(1);
        all.add(simulated);
        all.add(PicoRuntime.builder().backend(Backend.PLATFORM).build());
        if (KernelThreads.haveVirtual()) {
            all.add(PicoRuntime.builder().backend(Backend.VIRTUAL).build());
        }
        return all;
    }

    private static void sleep(long millis) {
        try {
            PicoThread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void join(PicoThread t) {
        try {
            t.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @MethodSource("runtimes")
    void all_have_run_when_run_returns(PicoRuntime given) {
        try (PicoRuntime r = given) {
            AtomicInteger ran = new AtomicInteger();
            r.run(() -> {
                for (int i = 0; i < 1000; i++) {
                    PicoThread.spawn(ran::incrementAndGet);
                }
            });
            assertEquals(1000, ran.get());
        }
    }

    @ParameterizedTest
    @MethodSource("runtimes")
    void a_thread_yields_and_sleeps_and_goes_on(PicoRuntime given) {
        try (PicoRuntime r = given) {
            AtomicInteger steps = new AtomicInteger();
            for (int k = 0; k < 100; k++) {
                r.start(() -> {
                    for (int i = 0; i < 10; i++) {
                        steps.incrementAndGet();
                        if (i == 3) {
                            sleep(1);
                        } else {
                            PicoThread.yield();
                        }
                    }
                });
            }
            r.awaitEnd();
            assertEquals(1000, steps.get());
        }
    }

    @ParameterizedTest
    @MethodSource("runtimes")
    void join_returns_after_the_end(PicoRuntime given) throws Exception {
        try (PicoRuntime r = given) {
            List<String> order = java.util.Collections.synchronizedList(new ArrayList<>());
            PicoThread first = new PicoThread(() -> {
                for (int i = 0; i < 5; i++) {
                    PicoThread.yield();
                }
                order.add("first");
            });
            PicoThread second = new PicoThread(() -> {
                join(first);
                order.add("second");
            });
            r.start(first);
            r.start(second);
            second.join();
            assertEquals("[first, second]", order.toString());
            assertEquals(Thread.State.TERMINATED, first.getState());
            assertFalse(second.isAlive());
            first.join();
            first.join(1);
        }
    }

    @ParameterizedTest
    @MethodSource("runtimes")
    void unpark_before_park_is_not_lost(PicoRuntime given) throws Exception {
        try (PicoRuntime r = given) {
            PicoThread t = new PicoThread(() -> {
                Parking.unpark(PicoThread.currentThread());
                Parking.park();
            });
            r.start(t);
            t.join();
        }
    }

    @ParameterizedTest
    @MethodSource("runtimes")
    void an_interrupt_ends_a_sleep_and_is_cleared(PicoRuntime given) throws Exception {
        try (PicoRuntime r = given) {
            AtomicReference<Throwable> seen = new AtomicReference<>();
            AtomicReference<Boolean> left = new AtomicReference<>();
            PicoThread t = new PicoThread(() -> {
                try {
                    PicoThread.sleep(1_000_000_000L);
                } catch (InterruptedException x) {
                    seen.set(x);
                    left.set(PicoThread.currentThread().isInterrupted());
                }
            });
            r.start(t);
            Until.holds(() -> t.getState() == Thread.State.TIMED_WAITING);
            assertEquals(WaitReason.SLEEP, t.getWaitReason());
            t.interrupt();
            t.join();
            assertTrue(seen.get() instanceof InterruptedException, "" + seen.get());
            assertFalse(left.get());
        }
    }

    @ParameterizedTest
    @MethodSource("runtimes")
    void an_interrupt_before_a_sleep_ends_it_at_once(PicoRuntime given) throws Exception {
        try (PicoRuntime r = given) {
            AtomicReference<Throwable> seen = new AtomicReference<>();
            PicoThread t = new PicoThread(() -> {
                PicoThread.currentThread().interrupt();
                try {
                    PicoThread.sleep(1_000_000_000L);
                } catch (InterruptedException x) {
                    seen.set(x);
                }
            });
            r.start(t);
            t.join();
            assertTrue(seen.get() instanceof InterruptedException);
            assertFalse(t.isInterrupted());
        }
    }

    @ParameterizedTest
    @MethodSource("runtimes")
    void an_uncaught_exception_reaches_the_handler_on_the_thread_that_ends(PicoRuntime given) throws Exception {
        try (PicoRuntime r = given) {
            AtomicReference<Object> seen = new AtomicReference<>();
            AtomicReference<PicoThread> on = new AtomicReference<>();
            PicoThread t = new PicoThread(() -> {
                PicoThread.yield();
                throw new IllegalStateException("thrown");
            }, "thrower");
            t.setUncaughtExceptionHandler((thread, error) -> {
                sleep(1);
                seen.set(error.getMessage());
                on.set(PicoThread.currentThread());
                assertSame(t, thread);
                throw new IllegalStateException("ignored");
            });
            r.start(t);
            t.join();
            assertEquals("thrown", seen.get());
            assertSame(t, on.get());
        }
    }

    @ParameterizedTest
    @MethodSource("runtimes")
    void run_throws_what_main_has_thrown(PicoRuntime given) {
        try (PicoRuntime r = given) {
            assertEquals("from main", assertThrows(IllegalStateException.class, () -> r.run(() -> {
                throw new IllegalStateException("from main");
            })).getMessage());
        }
    }

    @ParameterizedTest
    @MethodSource("runtimes")
    void a_daemon_does_not_hold_the_end(PicoRuntime given) {
        try (PicoRuntime r = given) {
            PicoThread d = new PicoThread(() -> sleep(1_000_000_000L));
            d.setDaemon(true);
            r.start(d);
            r.run(() -> {});
            assertTrue(d.isAlive());
            assertThrows(IllegalThreadStateException.class, () -> d.setDaemon(false));
            assertThrows(IllegalThreadStateException.class, d::start);
        }
    }

    @ParameterizedTest
    @MethodSource("runtimes")
    void the_current_thread_is_the_one_that_runs(PicoRuntime given) throws Exception {
        try (PicoRuntime r = given) {
            AtomicReference<PicoThread> seen = new AtomicReference<>();
            AtomicReference<PicoThread> after = new AtomicReference<>();
            PicoThread t = new PicoThread(() -> {
                seen.set(PicoThread.currentThread());
                PicoThread.yield();
                after.set(PicoThread.currentThread());
            }, "mine");
            assertEquals(Thread.State.NEW, t.getState());
            r.start(t);
            t.join();
            assertSame(t, seen.get());
            assertSame(t, after.get());
            assertEquals("mine", t.getName());
        }
    }

    @Test
    void a_kernel_thread_has_one_too() throws Exception {
        PicoThread me = PicoThread.currentThread();
        assertSame(me, PicoThread.currentThread());
        assertEquals(Thread.currentThread().getName(), me.getName());
        Parking.unpark(me);
        Parking.park();
        me.interrupt();
        assertTrue(Thread.currentThread().isInterrupted());
        assertTrue(PicoThread.interrupted());
        Parking.parkNanos(1);
        PicoThread.sleep(1);
    }

    @Test
    void locals_are_of_each_thread_and_inheritable_ones_start_as_the_parents() throws Exception {
        PicoThreadLocal<Integer> own = new PicoThreadLocal<>();
        ThreadLocal<Integer> first = PicoThreadLocal.withInitial(() -> 5);
        PicoInheritableThreadLocal<Integer> inherited = new PicoInheritableThreadLocal<>();
        try (PicoRuntime r = PicoRuntime.builder().carriers(2).build()) {
            own.set(1);
            inherited.set(2);
            AtomicReference<String> seen = new AtomicReference<>();
            PicoThread t = new PicoThread(() -> {
                own.set(10);
                first.set(11);
                PicoThread.yield();
                seen.set(own.get() + " " + first.get() + " " + inherited.get());
                first.remove();
                own.remove();
                seen.set(seen.get() + " " + own.get() + " " + first.get());
            });
            r.start(t);
            t.join();
            assertEquals("10 11 2 null 5", seen.get());
            assertEquals(1, own.get());
            assertEquals(5, first.get());
        }
    }

    @Test
    void many_locals_come_and_go() {
        List<PicoThreadLocal<Integer>> locals = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            PicoThreadLocal<Integer> l = new PicoThreadLocal<>();
            l.set(i);
            locals.add(l);
            if (i % 3 == 0) {
                locals.get(i / 2).remove();
            }
        }
        for (int i = 0; i < 200; i++) {
            Integer v = locals.get(i).get();
            assertTrue(v == null || v == i);
        }
        assertEquals(199, locals.get(199).get());
    }

    @ParameterizedTest
    @MethodSource("runtimes")
    void the_context_class_loader_may_be_null(PicoRuntime given) {
        ClassLoader system = ClassLoader.getSystemClassLoader();
        ClassLoader other = new ClassLoader(system) { };
        try (PicoRuntime r = given) {
            List<ClassLoader> seen = new ArrayList<>();
            r.run(() -> {
                PicoThread given1 = new PicoThread(() -> seen.add(PicoThread.currentThread().getContextClassLoader()));
                given1.setContextClassLoader(null);
                given1.start();
                join(given1);
                PicoThread.currentThread().setContextClassLoader(null);
                seen.add(PicoThread.currentThread().getContextClassLoader());
                PicoThread heir = new PicoThread(() -> seen.add(PicoThread.currentThread().getContextClassLoader()));
                PicoThread.currentThread().setContextClassLoader(other);
                seen.add(PicoThread.currentThread().getContextClassLoader());
                heir.start();
                join(heir);
                PicoThread.currentThread().setContextClassLoader(system);
                seen.add(PicoThread.currentThread().getContextClassLoader());
            });
            assertEquals(java.util.Arrays.asList(null, null, other, null, system), seen);
        }
    }

    @Test
    void the_kernel_thread_of_a_thread_has_its_context_class_loader() {
        for (Backend b : KernelThreads.haveVirtual() ? new Backend[] {Backend.PLATFORM, Backend.VIRTUAL} : new Backend[] {Backend.PLATFORM}) {
            try (PicoRuntime r = PicoRuntime.builder().backend(b).build()) {
                AtomicReference<ClassLoader> seen = new AtomicReference<>(ClassLoader.getSystemClassLoader());
                PicoThread t = new PicoThread(() -> seen.set(Thread.currentThread().getContextClassLoader()));
                t.setContextClassLoader(null);
                r.start(t);
                join(t);
                assertEquals(null, seen.get(), b.toString());
            }
        }
    }
}
