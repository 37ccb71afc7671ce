package lamprey;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import lamprey.instrument.Monitors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(240)
class MonitorsTest {
    static java.util.List<PicoRuntime> runtimes() {
        return ThreadsTest.runtimes();
    }

    /** Threads that other tests have left in a deadlock own some for ever. */
    private final int before = Monitors.count();

    @AfterEach
    void no_entry_is_left() {
        assertEquals(before, Monitors.count());
    }

    @Test
    void enter_counts_and_exit_of_what_is_not_owned_is_refused() {
        Object o = new Object();
        assertThrows(IllegalMonitorStateException.class, () -> Monitors.exit(o));
        Monitors.enter(o);
        Monitors.enter(o);
        assertTrue(Monitors.holdsLock(o));
        Monitors.exit(o);
        assertTrue(PicoThread.holdsLock(o));
        Monitors.exit(o);
        assertFalse(Monitors.holdsLock(o));
        assertThrows(IllegalMonitorStateException.class, () -> Monitors.exit(o));
        assertThrows(IllegalMonitorStateException.class, () -> Monitors.wait(o));
        assertThrows(IllegalMonitorStateException.class, () -> Monitors.notify(o));
        assertThrows(IllegalMonitorStateException.class, () -> Monitors.notifyAll(o));
        assertThrows(NullPointerException.class, () -> Monitors.enter(null));
        assertThrows(IllegalArgumentException.class, () -> Monitors.wait(o, -1));
    }

    @Test
    void a_timed_wait_returns_and_owns_the_monitor_as_often_as_before() throws Exception {
        Object o = new Object();
        Monitors.enter(o);
        Monitors.enter(o);
        Monitors.wait(o, 1);
        Monitors.exit(o);
        assertTrue(Monitors.holdsLock(o));
        Monitors.exit(o);
    }

    @Test
    void an_interrupted_thread_does_not_wait_and_keeps_the_monitor() {
        Object o = new Object();
        Monitors.enter(o);
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> Monitors.wait(o));
        assertFalse(Thread.interrupted());
        Monitors.exit(o);
    }

    /** A bounded buffer: producers and consumers wait for each other. */
    @ParameterizedTest
    @MethodSource("runtimes")
    void wait_and_notify_all_pass_every_item_once(PicoRuntime given) throws Exception {
        try (PicoRuntime r = given) {
            int each = 300;
            int pairs = 4;
            ArrayDeque<Integer> buffer = new ArrayDeque<>();
            AtomicInteger sum = new AtomicInteger();
            PicoThread[] all = new PicoThread[2 * pairs];
            for (int k = 0; k < all.length; k++) {
                boolean producer = k % 2 == 0;
                all[k] = new PicoThread(() -> {
                    for (int i = 1; i <= each; i++) {
                        Monitors.enter(buffer);
                        while (producer ? buffer.size() == 3 : buffer.isEmpty()) {
                            await(buffer, 0);
                        }
                        if (producer) {
                            buffer.add(i);
                        } else {
                            sum.addAndGet(buffer.remove());
                        }
                        Monitors.notifyAll(buffer);
                        Monitors.exit(buffer);
                    }
                });
                r.start(all[k]);
            }
            for (PicoThread t : all) {
                t.join();
            }
            assertEquals(pairs * each * (each + 1) / 2, sum.get());
        }
    }

    private static void await(Object o, long millis) {
        try {
            Monitors.wait(o, millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @MethodSource("runtimes")
    void an_interrupt_in_wait_is_thrown_after_the_monitor_is_owned_again(PicoRuntime given) throws Exception {
        try (PicoRuntime r = given) {
            Object o = new Object();
            AtomicReference<Object> seen = new AtomicReference<>();
            PicoThread t = new PicoThread(() -> {
                Monitors.enter(o);
                try {
                    Monitors.wait(o);
                } catch (InterruptedException x) {
                    seen.set(x + " " + Monitors.holdsLock(o) + " " + PicoThread.currentThread().isInterrupted());
                }
                Monitors.exit(o);
            });
            r.start(t);
            Until.holds(() -> t.getWaitReason() == WaitReason.OBJECT_WAIT);
            // It joins the set after the reason is seen: who owns the monitor knows that it has.
            Monitors.enter(o);
            t.interrupt();
            assertEquals(null, seen.get());
            Monitors.exit(o);
            t.join();
            assertEquals("java.lang.InterruptedException true false", seen.get());
        }
    }

    @ParameterizedTest
    @MethodSource("runtimes")
    void notify_wakes_one_and_a_limit_ends_the_others(PicoRuntime given) throws Exception {
        try (PicoRuntime r = given) {
            Object o = new Object();
            AtomicInteger back = new AtomicInteger();
            PicoThread[] all = new PicoThread[20];
            for (int k = 0; k < all.length; k++) {
                all[k] = new PicoThread(() -> {
                    Monitors.enter(o);
                    await(o, 20);
                    back.incrementAndGet();
                    Monitors.notify(o);
                    Monitors.exit(o);
                });
                r.start(all[k]);
            }
            for (PicoThread t : all) {
                t.join();
            }
            assertEquals(20, back.get());
        }
    }

    /** The table grows, and shrinks; no one is lost on the way. */
    @Test
    void twenty_thousand_wait_each_for_its_own_object() throws Exception {
        try (PicoRuntime r = PicoRuntime.builder().carriers(2).build()) {
            int n = 20_000;
            Object[] objects = new Object[n];
            PicoThread[] all = new PicoThread[n];
            AtomicInteger in = new AtomicInteger();
            AtomicInteger back = new AtomicInteger();
            for (int i = 0; i < n; i++) {
                Object o = objects[i] = new Object();
                all[i] = new PicoThread(() -> {
                    Monitors.enter(o);
                    in.incrementAndGet();
                    await(o, 0);
                    back.addAndGet(Monitors.holdsLock(o) ? 1 : 0);
                    Monitors.exit(o);
                });
                r.start(all[i]);
            }
            Until.holds(() -> in.get() == n);
            assertEquals(before + n, Monitors.count());
            for (Object o : objects) {
                Monitors.enter(o);
                assertTrue(Monitors.holdsLock(o));
                Monitors.notify(o);
                Monitors.exit(o);
            }
            for (PicoThread t : all) {
                t.join();
            }
            assertEquals(n, back.get());
        }
    }
}
