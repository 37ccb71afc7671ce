package lamprey;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import lamprey.instrument.Script;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Wake-ups that come at any moment of a suspension, from any thread. */
@Timeout(120)
class ParkingTest {
    static java.util.List<PicoRuntime> runtimes() {
        return ThreadsTest.runtimes();
    }

    /** One wait: whoever delivers finds it in a cell. */
    static final class Cell extends Blocker {
        @Override
        protected WaitReason reason() {
            return WaitReason.OTHER;
        }
    }

    @ParameterizedTest
    @MethodSource("runtimes")
    void deliver_at_any_moment_is_received_once(PicoRuntime r) throws Exception {
        try (r) {
            int rounds = 5_000;
            AtomicReference<Cell> open = new AtomicReference<>();
            AtomicLong sum = new AtomicLong();
            PicoThread t = new PicoThread(new Script((i, v, e) -> {
                if (v != null) {
                    sum.addAndGet((Integer) v);
                }
                if (i == rounds) {
                    return false;
                }
                Cell c = new Cell();
                open.set(c);
                Object now = Parking.await(c);
                // It was there already: nothing was suspended.
                sum.addAndGet((Integer) now);
                return true;
            }));
            r.start(t);
            long sent = 0;
            for (int i = 0; i < rounds; i++) {
                Cell c;
                while ((c = open.getAndSet(null)) == null) {
                    Thread.yield();
                }
                assertTrue(c.deliver(i));
                assertFalse(c.deliver(-1));
                sent += i;
            }
            t.join();
            assertEquals(sent, sum.get());
        }
    }

    @ParameterizedTest
    @MethodSource("runtimes")
    void two_threads_unpark_each_other(PicoRuntime r) throws Exception {
        try (r) {
            int rounds = 5_000;
            AtomicInteger turn = new AtomicInteger();
            PicoThread[] pair = new PicoThread[2];
            for (int k = 0; k < 2; k++) {
                int me = k;
                pair[k] = new PicoThread(new Script((i, v, e) -> {
                    if (turn.get() >= 2 * rounds) {
                        return false;
                    }
                    if (turn.get() % 2 == me) {
                        turn.incrementAndGet();
                        Parking.unpark(pair[1 - me]);
                    } else {
                        Parking.park();
                    }
                    return true;
                }));
            }
            r.start(pair[0]);
            r.start(pair[1]);
            pair[0].join();
            pair[1].join();
            assertEquals(2 * rounds, turn.get());
        }
    }

    @ParameterizedTest
    @MethodSource("runtimes")
    void interrupt_and_deliver_and_timeout_at_once_end_a_wait_once(PicoRuntime r) throws Exception {
        try (r) {
            int rounds = 2_000;
            AtomicReference<Cell> open = new AtomicReference<>();
            AtomicInteger values = new AtomicInteger();
            AtomicInteger interrupts = new AtomicInteger();
            AtomicInteger timeouts = new AtomicInteger();
            PicoThread t = new PicoThread(new Script((i, v, e) -> {
                if (i > 0) {
                    (e instanceof InterruptedException ? interrupts : v == Blocker.Cause.TIMEOUT ? timeouts : values).incrementAndGet();
                }
                if (i == rounds) {
                    return false;
                }
                Cell c = new Cell();
                open.set(c);
                Object now;
                try {
                    now = Parking.await(c, i % 3 == 0 ? 20_000 : Long.MAX_VALUE);
                } catch (InterruptedException x) {
                    interrupts.incrementAndGet();
                    values.decrementAndGet();
                    return true;
                }
                (now == Blocker.Cause.TIMEOUT ? timeouts : values).incrementAndGet();
                values.decrementAndGet();
                return true;
            }));
            Thread interrupter = new Thread(() -> {
                while (t.isAlive()) {
                    t.interrupt();
                    Thread.yield();
                }
            });
            r.start(t);
            interrupter.start();
            int delivered = 0;
            while (t.isAlive()) {
                Cell c = open.getAndSet(null);
                if (c != null && c.deliver("x")) {
                    delivered++;
                }
                Thread.yield();
            }
            interrupter.join();
            assertEquals(delivered, values.get());
            assertEquals(rounds, values.get() + interrupts.get() + timeouts.get());
        }
    }

    @ParameterizedTest
    @MethodSource("runtimes")
    void many_light_and_kernel_threads_hand_on_a_token(PicoRuntime r) throws Exception {
        try (r) {
            int n = 50;
            int rounds = 40;
            AtomicInteger token = new AtomicInteger();
            PicoThread[] ring = new PicoThread[2 * n];
            Thread[] kernel = new Thread[n];
            java.util.concurrent.CountDownLatch known = new java.util.concurrent.CountDownLatch(n);
            for (int k = 0; k < n; k++) {
                int me = 2 * k + 1;
                kernel[k] = new Thread(() -> {
                    ring[me] = PicoThread.currentThread();
                    known.countDown();
                    while (token.get() < rounds * 2 * n) {
                        if (token.get() % (2 * n) == me) {
                            token.incrementAndGet();
                            Parking.unpark(ring[(me + 1) % (2 * n)]);
                        } else {
                            Parking.park();
                        }
                    }
                    Parking.unpark(ring[(me + 1) % (2 * n)]);
                });
                kernel[k].start();
                int light = 2 * k;
                ring[light] = new PicoThread(new Script((i, v, e) -> {
                    if (token.get() >= rounds * 2 * n) {
                        Parking.unpark(ring[light + 1]);
                        return false;
                    }
                    if (token.get() % (2 * n) == light) {
                        token.incrementAndGet();
                        Parking.unpark(ring[light + 1]);
                    } else {
                        Parking.park();
                    }
                    return true;
                }));
            }
            known.await();
            for (int k = 0; k < n; k++) {
                r.start(ring[2 * k]);
            }
            for (int k = 0; k < n; k++) {
                ring[2 * k].join();
                kernel[k].join();
            }
            assertEquals(rounds * 2 * n, token.get());
        }
    }

    @ParameterizedTest
    @MethodSource("runtimes")
    void ten_threads_count_to_ten_thousand_under_a_monitor(PicoRuntime r) throws Exception {
        try (r) {
            Object lock = new Object();
            int[] count = new int[1];
            PicoThread[] all = new PicoThread[10];
            for (int k = 0; k < all.length; k++) {
                int[] read = new int[1];
                all[k] = new PicoThread(new Script((i, v, e) -> {
                    if (i == 3000) {
                        return false;
                    }
                    switch (i % 3) {
                        case 0:
                            lamprey.instrument.Monitors.enter(lock);
                            break;
                        case 1:
                            read[0] = count[0];
                            PicoThread.yield();
                            break;
                        default:
                            count[0] = read[0] + 1;
                            lamprey.instrument.Monitors.exit(lock);
                    }
                    return true;
                }));
                r.start(all[k]);
            }
            for (PicoThread t : all) {
                t.join();
            }
            assertEquals(10_000, count[0]);
            assertFalse(lamprey.instrument.Monitors.holdsLock(lock));
        }
    }
}
