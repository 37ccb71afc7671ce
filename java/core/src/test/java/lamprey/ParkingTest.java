package lamprey;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import lamprey.instrument.Monitors;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Wake-ups that come at any moment of a suspension, from any thread. */
@Timeout(240)
class ParkingTest {
    static List<PicoRuntime> runtimes() {
        return ThreadsTest.runtimes();
    }

    /** One wait: whoever delivers finds it in a cell. */
    static final class Cell extends Blocker {}

    @ParameterizedTest
    @MethodSource("runtimes")
    void deliver_at_any_moment_is_received_once(PicoRuntime given) throws Exception {
        try (PicoRuntime r = given) {
            int rounds = 5_000;
            AtomicReference<Cell> open = new AtomicReference<>();
            AtomicLong sum = new AtomicLong();
            PicoThread t = new PicoThread(() -> {
                for (int i = 0; i < rounds; i++) {
                    Cell c = new Cell();
                    open.set(c);
                    sum.addAndGet((Integer) Parking.awaitUninterruptibly(c));
                }
            });
            r.start(t);
            long sent = 0;
            for (int i = 0; i < rounds; i++) {
                Until.holds(() -> open.get() != null);
                Cell c = open.getAndSet(null);
                assertEquals(true, c.deliver(i));
                assertFalse(c.deliver(-1));
                sent += i;
            }
            t.join();
            assertEquals(sent, sum.get());
        }
    }

    @ParameterizedTest
    @MethodSource("runtimes")
    void two_threads_unpark_each_other(PicoRuntime given) throws Exception {
        try (PicoRuntime r = given) {
            int rounds = 5_000;
            AtomicInteger turn = new AtomicInteger();
            PicoThread[] pair = new PicoThread[2];
            for (int k = 0; k < 2; k++) {
                int me = k;
                pair[k] = new PicoThread(() -> {
                    while (turn.get() < 2 * rounds) {
                        if (turn.get() % 2 == me) {
                            turn.incrementAndGet();
                            Parking.unpark(pair[1 - me]);
                        } else {
                            Parking.park();
                        }
                    }
                });
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
    void interrupt_and_deliver_and_timeout_at_once_end_a_wait_once(PicoRuntime given) throws Exception {
        try (PicoRuntime r = given) {
            int rounds = 2_000;
            AtomicReference<Cell> open = new AtomicReference<>();
            AtomicInteger values = new AtomicInteger();
            AtomicInteger interrupts = new AtomicInteger();
            AtomicInteger timeouts = new AtomicInteger();
            PicoThread t = new PicoThread(() -> {
                for (int i = 0; i < rounds; i++) {
                    Cell c = new Cell();
                    open.set(c);
                    try {
                        Object v = Parking.await(c, i % 3 == 0 ? 20_000 : Long.MAX_VALUE);
                        (v == Blocker.Cause.TIMEOUT ? timeouts : values).incrementAndGet();
                    } catch (InterruptedException e) {
                        interrupts.incrementAndGet();
                    }
                }
            });
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
    void many_light_and_kernel_threads_hand_on_a_token(PicoRuntime given) throws Exception {
        try (PicoRuntime r = given) {
            int n = 30;
            int end = 20 * 2 * n;
            AtomicInteger token = new AtomicInteger();
            PicoThread[] ring = new PicoThread[2 * n];
            CountDownLatch known = new CountDownLatch(n);
            CountDownLatch go = new CountDownLatch(1);
            for (int k = 0; k < 2 * n; k++) {
                int me = k;
                Runnable body = () -> {
                    while (token.get() < end) {
                        if (token.get() % (2 * n) == me) {
                            token.incrementAndGet();
                            Parking.unpark(ring[(me + 1) % (2 * n)]);
                        } else {
                            Parking.park();
                        }
                    }
                    Parking.unpark(ring[(me + 1) % (2 * n)]);
                };
                if (k % 2 == 0) {
                    ring[k] = new PicoThread(body);
                } else {
                    new Thread(() -> {
                        ring[me] = PicoThread.currentThread();
                        known.countDown();
                        try {
                            go.await();
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
                        body.run();
                    }).start();
                }
            }
            known.await();
            go.countDown();
            for (int k = 0; k < 2 * n; k += 2) {
                r.start(ring[k]);
            }
            for (PicoThread t : ring) {
                t.join();
            }
            assertEquals(end, token.get());
        }
    }

    @ParameterizedTest
    @MethodSource("runtimes")
    void park_nanos_ends_by_its_limit_and_leaves_no_timer(PicoRuntime given) throws Exception {
        try (PicoRuntime r = given) {
            PicoThread t = new PicoThread(() -> {
                for (int i = 0; i < 100; i++) {
                    Parking.parkNanos(1000);
                    Parking.unpark(PicoThread.currentThread());
                    Parking.parkNanos(Long.MAX_VALUE / 2);
                }
            });
            r.start(t);
            t.join();
            assertEquals(0, r.timers.size());
        }
    }

    @ParameterizedTest
    @MethodSource("runtimes")
    void ten_threads_count_to_ten_thousand_under_a_monitor(PicoRuntime given) throws Exception {
        try (PicoRuntime r = given) {
            Object lock = new Object();
            int[] count = new int[1];
            PicoThread[] all = new PicoThread[10];
            for (int k = 0; k < all.length; k++) {
                all[k] = new PicoThread(() -> {
                    for (int i = 0; i < 1000; i++) {
                        Monitors.enter(lock);
                        int read = count[0];
                        PicoThread.yield();
                        count[0] = read + 1;
                        Monitors.exit(lock);
                    }
                });
                r.start(all[k]);
            }
            for (PicoThread t : all) {
                t.join();
            }
            assertEquals(10_000, count[0]);
            assertFalse(Monitors.holdsLock(lock));
        }
    }
}
