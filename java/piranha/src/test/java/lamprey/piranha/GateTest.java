package lamprey.piranha;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(240)
class GateTest {
    /** The order in which threads that come one after the other are let in. */
    private static List<Integer> order(Order order) throws Exception {
        Gate gate = new Gate(1, order);
        gate.enter();
        List<Integer> in = new ArrayList<>();
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            int n = i;
            threads[i] = new Thread(() -> {
                try {
                    gate.enter();
                } catch (InterruptedException e) {
                    return;
                }
                in.add(n);
                gate.leave();
            });
            threads[i].start();
            while (threads[i].getState() != Thread.State.WAITING) {
                Thread.yield();
            }
        }
        gate.leave();
        for (Thread t : threads) {
            t.join();
        }
        return in;
    }

    @Test
    void first_come_first_served() throws Exception {
        assertEquals(Arrays.asList(0, 1, 2, 3), order(Order.FIFO));
    }

    @Test
    void last_come_first_served() throws Exception {
        assertEquals(Arrays.asList(3, 2, 1, 0), order(Order.LIFO));
    }

    @Test
    void random_serves_all() throws Exception {
        List<Integer> in = order(Order.RANDOM);
        in.sort(null);
        assertEquals(Arrays.asList(0, 1, 2, 3), in);
    }

    @Test
    void interrupted_thread_leaves_its_place_to_others() throws Exception {
        Gate gate = new Gate(1, Order.FIFO);
        gate.enter();
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, gate::enter);
        gate.leave();
        gate.enter();
        gate.leave();
    }

    @Test
    void never_more_than_the_limit() throws Exception {
        Gate gate = new Gate(3, Order.LIFO);
        AtomicInteger now = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Thread[] threads = new Thread[20];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int k = 0; k < 100; k++) {
                    try {
                        gate.enter();
                    } catch (InterruptedException e) {
                        return;
                    }
                    most.accumulateAndGet(now.incrementAndGet(), Math::max);
                    Thread.yield();
                    now.decrementAndGet();
                    gate.leave();
                }
            });
            threads[i].start();
        }
        for (Thread t : threads) {
            t.join();
        }
        assertEquals(0, now.get());
        assertEquals(true, most.get() >= 1 && most.get() <= 3, "at most 3, but were " + most);
    }
}
