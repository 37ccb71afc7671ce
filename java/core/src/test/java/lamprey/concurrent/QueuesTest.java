package lamprey.concurrent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lamprey.PicoThread;
import lamprey.channel.IVar;
import lamprey.event.Host;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(240)
class QueuesTest {
    private static List<BlockingQueue<Integer>> queues() {
        return Arrays.asList(new LinkedBlockingQueue<>(), new LinkedBlockingQueue<>(2), new ArrayBlockingQueue<>(2), new ArrayBlockingQueue<>(1, true),
            new LinkedBlockingDeque<>(2), new PriorityBlockingQueue<>(), new SynchronousQueue<>());
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void every_element_is_taken_once(Host host) throws Throwable {
        for (BlockingQueue<Integer> q : queues()) {
            int n = 300;
            AtomicInteger[] seen = new AtomicInteger[3 * n];
            Arrays.setAll(seen, i -> new AtomicInteger());
            List<Host.Task> tasks = new ArrayList<>();
            for (int t = 0; t < 3; t++) {
                int base = t * n;
                tasks.add(() -> {
                    for (int i = 0; i < n; i++) {
                        if (i % 2 == 0) {
                            q.put(base + i);
                        } else {
                            assertTrue(q.offer(base + i, 1, TimeUnit.MINUTES));
                        }
                    }
                });
                tasks.add(() -> {
                    for (int i = 0; i < n; i++) {
                        seen[i % 2 == 0 ? q.take() : q.poll(1, TimeUnit.MINUTES)].incrementAndGet();
                    }
                });
            }
            host.run(tasks);
            for (AtomicInteger s : seen) {
                assertEquals(1, s.get(), q.getClass().getName());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void limits_and_interrupts_end_a_wait(Host host) throws Throwable {
        for (BlockingQueue<Integer> q : queues()) {
            IVar<PicoThread> thread = new IVar<>();
            host.run(() -> {
                assertNull(q.poll(1, TimeUnit.MILLISECONDS));
                assertNull(q.poll());
                thread.put(PicoThread.currentThread());
                boolean interrupted = false;
                try {
                    q.take();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
                assertTrue(interrupted);
                while (q.offer(1) && q.remainingCapacity() > 0 && q.remainingCapacity() < 10) {
                    // Until it is full.
                }
                if (q.remainingCapacity() == 0) {
                    assertFalse(q.offer(9, 1, TimeUnit.MILLISECONDS));
                }
            }, () -> thread.get().interrupt());
        }
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void every_removal_makes_place_for_one_who_waits(Host host) throws Throwable {
        List<java.util.function.Consumer<BlockingQueue<Integer>>> removals = Arrays.asList(q -> q.poll(), q -> q.remove(1), q -> q.clear(),
            q -> q.drainTo(new ArrayList<>()), q -> q.removeIf(x -> x == 1), q -> q.removeAll(Arrays.asList(1)), q -> q.remove(), q -> {
                Iterator<Integer> i = q.iterator();
                i.next();
                i.remove();
            });
        for (java.util.function.Consumer<BlockingQueue<Integer>> removal : removals) {
            for (BlockingQueue<Integer> q : Arrays.<BlockingQueue<Integer>>asList(new LinkedBlockingQueue<>(1), new ArrayBlockingQueue<>(1),
                    new LinkedBlockingDeque<>(1))) {
                q.add(1);
                IVar<Void> started = new IVar<>();
                host.run(() -> {
                    started.put(null);
                    q.put(2);
                }, () -> {
                    started.get();
                    PicoThread.yield();
                    removal.accept(q);
                });
                assertEquals(2, q.poll());
            }
        }
    }

    private static final class Later implements Delayed {
        private final long time;
        final int n;

        Later(int n, long time) {
            this.n = n;
            this.time = time;
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(time - System.nanoTime(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed o) {
            return Long.signum(time - ((Later) o).time);
        }
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void delayed_elements_come_in_the_order_of_their_times(Host host) throws Throwable {
        DelayQueue<Later> q = new DelayQueue<>();
        long now = System.nanoTime();
        q.put(new Later(3, now + 9_000_000));
        q.put(new Later(1, now + 1_000_000));
        q.put(new Later(2, now + 4_000_000));
        host.run(() -> {
            assertEquals(1, q.take().n);
            assertEquals(2, q.take().n);
            assertEquals(3, q.take().n);
            assertNull(q.poll());
        });
        // An earlier one comes while a thread waits for a later one.
        q.put(new Later(5, System.nanoTime() + TimeUnit.HOURS.toNanos(1)));
        host.run(() -> assertEquals(4, q.take().n), () -> q.put(new Later(4, System.nanoTime() + 1_000_000)));
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void both_ends_of_a_deque_block(Host host) throws Throwable {
        LinkedBlockingDeque<Integer> q = new LinkedBlockingDeque<>(2);
        host.run(() -> {
            for (int i = 0; i < 200; i++) {
                q.putFirst(i);
                q.putLast(i);
            }
        }, () -> {
            for (int i = 0; i < 200; i++) {
                q.takeFirst();
                q.takeLast();
            }
        });
        assertTrue(q.isEmpty());
    }

    @Test
    @SuppressWarnings("unchecked")
    void a_queue_that_is_read_from_a_stream_works() throws Exception {
        for (BlockingQueue<Integer> q : Arrays.<BlockingQueue<Integer>>asList(new LinkedBlockingQueue<>(3), new ArrayBlockingQueue<>(3),
                new LinkedBlockingDeque<>(3), new PriorityBlockingQueue<>())) {
            q.put(1);
            q.put(2);
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
                out.writeObject(q);
            }
            try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
                BlockingQueue<Integer> copy = (BlockingQueue<Integer>) in.readObject();
                assertEquals(1, copy.take());
                copy.put(3);
                assertEquals(2, copy.take());
            }
        }
    }
}
