package lamprey.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lamprey.PicoThread;
import lamprey.event.Event;
import lamprey.event.Host;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(240)
class ChannelTest {
    @ParameterizedTest
    @EnumSource(Host.class)
    void values_arrive_in_order_through_every_capacity(Host host) throws Throwable {
        for (Channel<Integer> c : Arrays.asList(new Channel<Integer>(), Channel.<Integer>bounded(1), Channel.<Integer>bounded(7), Channel.<Integer>mailbox())) {
            host.run(() -> {
                for (int i = 0; i < 1000; i++) {
                    c.send(i);
                }
                c.close();
            }, () -> {
                for (int i = 0; i < 1000; i++) {
                    assertEquals(i, c.recv());
                }
                try {
                    c.recv();
                } catch (ClosedException expected) {
                    return;
                }
                throw new AssertionError("not closed");
            });
        }
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void null_is_a_value(Host host) throws Throwable {
        for (Channel<String> c : Arrays.asList(new Channel<String>(), Channel.<String>bounded(1))) {
            host.run(() -> c.send(null), () -> assertNull(c.recv()));
        }
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void every_value_arrives_once_with_many_on_both_sides(Host host) throws Throwable {
        for (int capacity : new int[] {0, 2}) {
            Channel<Integer> c = Channel.bounded(capacity);
            AtomicInteger[] seen = new AtomicInteger[4 * 1000];
            Arrays.setAll(seen, i -> new AtomicInteger());
            List<Host.Task> tasks = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                int base = t * 1000;
                tasks.add(() -> {
                    for (int i = 0; i < 1000; i++) {
                        c.send(base + i);
                    }
                });
                tasks.add(() -> {
                    for (int i = 0; i < 1000; i++) {
                        seen[c.recv()].incrementAndGet();
                    }
                });
            }
            host.run(tasks);
            for (AtomicInteger n : seen) {
                assertEquals(1, n.get());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void an_interrupted_send_has_not_sent_and_an_interrupted_receive_has_not_received(Host host) throws Throwable {
        Channel<Integer> c = new Channel<>();
        IVar<PicoThread> thread = new IVar<>();
        host.run(() -> {
            thread.put(PicoThread.currentThread());
            try {
                c.send(1);
            } catch (InterruptedException expected) {
                assertFalse(PicoThread.currentThread().isInterrupted());
                return;
            }
            throw new AssertionError("not interrupted");
        }, () -> thread.get().interrupt());
        assertNull(c.tryRecv());
        IVar<PicoThread> receiver = new IVar<>();
        host.run(() -> {
            receiver.put(PicoThread.currentThread());
            try {
                c.recv();
            } catch (InterruptedException expected) {
                return;
            }
            throw new AssertionError("not interrupted");
        }, () -> receiver.get().interrupt());
        assertFalse(c.trySend(2));
    }

    /** An interrupt and a value come at the same time: the value is received, or it stays. */
    @ParameterizedTest
    @EnumSource(Host.class)
    void an_interrupt_that_races_with_a_value_loses_nothing(Host host) throws Throwable {
        for (int i = 0; i < 300; i++) {
            Channel<Integer> c = Channel.bounded(1);
            IVar<PicoThread> receiver = new IVar<>();
            AtomicInteger received = new AtomicInteger();
            host.run(() -> {
                receiver.put(PicoThread.currentThread());
                try {
                    received.set(c.recv());
                } catch (InterruptedException e) {
                    // Nothing was received.
                }
            }, () -> c.send(7), () -> receiver.get().interrupt());
            Integer left = c.tryRecv();
            assertEquals(7, received.get() + (left == null ? 0 : left));
        }
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void time_limits_end_a_wait(Host host) throws Throwable {
        host.run(() -> {
            Channel<Integer> c = new Channel<>();
            assertNull(c.recv(1, TimeUnit.MILLISECONDS));
            assertFalse(c.send(1, 1, TimeUnit.MILLISECONDS));
            assertNull(c.tryRecv());
            assertFalse(c.trySend(1));
        });
        Channel<Integer> c = new Channel<>();
        host.run(() -> assertTrue(c.send(5, 1, TimeUnit.MINUTES)), () -> assertEquals(5, c.recv(1, TimeUnit.MINUTES)));
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_close_wakes_all_that_wait(Host host) throws Throwable {
        Channel<Integer> c = new Channel<>();
        Host.Task sender = () -> assertTrue(closed(() -> c.send(1)));
        host.run(sender, sender, () -> c.close());
        Channel<Integer> d = new Channel<>();
        Host.Task receiver = () -> assertTrue(closed(() -> d.recv()));
        host.run(receiver, receiver, () -> d.close());
    }

    private static boolean closed(Host.Task t) throws Throwable {
        try {
            t.run();
            return false;
        } catch (ClosedException expected) {
            return true;
        }
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void an_ivar_is_read_by_all(Host host) throws Throwable {
        IVar<Integer> v = new IVar<>();
        Host.Task reader = () -> assertEquals(3, v.get());
        host.run(reader, reader, reader, () -> v.put(3));
        assertThrows(IllegalStateException.class, () -> v.put(4));
        assertFalse(v.tryPut(4));
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void an_mvar_is_a_lock(Host host) throws Throwable {
        MVar<Integer> v = new MVar<>(0);
        List<Host.Task> tasks = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            tasks.add(() -> {
                for (int i = 0; i < 500; i++) {
                    int x = v.take();
                    PicoThread.yield();
                    v.put(x + 1);
                }
            });
        }
        host.run(tasks);
        host.run(() -> assertEquals(2000, v.read()));
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void an_mvar_serves_readers_before_a_taker(Host host) throws Throwable {
        MVar<Integer> v = new MVar<>();
        host.run(() -> assertEquals(1, v.read()), () -> assertEquals(1, v.read()), () -> v.put(1));
        host.run(() -> assertEquals(1, v.take()), () -> v.put(2));
        host.run(() -> {
            assertEquals(2, v.take());
            assertEquals(9, Event.choose(v.takeEvt(), v.readEvt(), Event.timeoutMillis(1).wrap(x -> 9)).sync());
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_broadcast_reaches_each_subscriber_and_tells_the_slow(Host host) throws Throwable {
        Broadcast<Integer> b = new Broadcast<>(4);
        List<Host.Task> tasks = new ArrayList<>();
        AtomicInteger done = new AtomicInteger();
        for (int t = 0; t < 3; t++) {
            Broadcast.Subscriber<Integer> s = b.subscribe();
            tasks.add(() -> {
                int next = 0;
                while (next < 100) {
                    try {
                        assertEquals(next++, s.recv());
                    } catch (LaggedException e) {
                        next += (int) e.missed() - 1;
                    }
                }
                done.incrementAndGet();
            });
        }
        tasks.add(() -> {
            for (int i = 0; i < 100; i++) {
                b.send(i);
                PicoThread.yield();
            }
        });
        host.run(tasks);
        assertEquals(3, done.get());
        Broadcast.Subscriber<Integer> late = b.subscribe();
        b.close();
        host.run(() -> assertTrue(closed(late::recv)));
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_watch_shows_the_last_value(Host host) throws Throwable {
        Watch<Integer> w = new Watch<>(0);
        Watch.Reader<Integer> r = w.reader();
        host.run(() -> {
            int seen = 0;
            while (seen < 100) {
                int now = r.changed();
                assertTrue(now > seen);
                seen = now;
            }
        }, () -> {
            for (int i = 1; i <= 100; i++) {
                w.set(i);
            }
        });
        w.close();
        host.run(() -> assertTrue(closed(r::changed)));
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_oneshot_carries_one_value(Host host) throws Throwable {
        Oneshot<Integer> o = new Oneshot<>();
        host.run(() -> {
            assertEquals(1, o.recv());
            assertTrue(closed(o::recv));
        }, () -> o.send(1));
        assertThrows(IllegalStateException.class, () -> o.send(2));
    }

    @Test
    void a_bad_capacity_is_refused() {
        assertTrue(assertThrows(IllegalArgumentException.class, () -> Channel.bounded(-1)).getMessage().contains("-1"));
        assertTrue(assertThrows(IllegalArgumentException.class, () -> new Broadcast<>(0)).getMessage().contains("0"));
    }
}
