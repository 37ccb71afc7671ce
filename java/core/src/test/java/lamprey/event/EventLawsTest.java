package lamprey.event;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import lamprey.PicoThread;
import lamprey.channel.Channel;
import lamprey.channel.ClosedException;
import lamprey.channel.IVar;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The laws of events. */
@Timeout(240)
class EventLawsTest {
    @ParameterizedTest
    @EnumSource(Host.class)
    void what_is_ready_is_taken_at_once(Host host) throws Throwable {
        host.run(() -> {
            Channel<Integer> empty = new Channel<>();
            assertEquals(1, Event.choose(empty.recvEvt(), Event.always(1)).sync());
            assertEquals(1, Event.prefer(Event.always(1), Event.always(2)).sync());
            assertEquals("7", Event.always(7).wrap(x -> "" + x).sync());
            assertEquals(9, Event.always(7).wrap(x -> x + 1).wrap(x -> x + 1).sync());
            assertEquals(3, Event.guard(() -> Event.always(3)).sync());
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_choice_that_waits_is_woken_by_each_of_its_channels(Host host) throws Throwable {
        for (int which = 0; which < 3; which++) {
            List<Channel<Integer>> channels = Arrays.asList(new Channel<>(), Channel.bounded(2), Channel.mailbox());
            int at = which;
            host.run(() -> assertEquals(at,
                    Event.choose(channels.get(0).recvEvt(), channels.get(1).recvEvt(), channels.get(2).recvEvt()).sync()),
                () -> channels.get(at).send(at));
        }
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void two_choices_meet_in_one_communication(Host host) throws Throwable {
        for (int i = 0; i < 200; i++) {
            Channel<Integer> a = new Channel<>();
            Channel<Integer> b = new Channel<>();
            AtomicInteger sum = new AtomicInteger();
            host.run(() -> sum.addAndGet(Event.choose(a.sendEvt(1).wrap(x -> 1), b.recvEvt()).sync()),
                () -> sum.addAndGet(Event.choose(b.sendEvt(2).wrap(x -> 2), a.recvEvt()).sync()));
            assertTrue(sum.get() == 2 || sum.get() == 4, "both took part in the same one: " + sum);
            assertNull(a.tryRecv());
            assertNull(b.tryRecv());
        }
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_choice_does_not_meet_itself(Host host) throws Throwable {
        host.run(() -> {
            Channel<Integer> c = new Channel<>();
            assertEquals(3, Event.choose(c.sendEvt(1).wrap(x -> 1), c.recvEvt(), Event.timeoutMillis(5).wrap(x -> 3)).sync());
        });
        Channel<Integer> c = new Channel<>();
        host.run(() -> assertEquals(5, Event.choose(c.sendEvt(1).wrap(x -> 1), c.recvEvt()).sync()),
            () -> c.send(5));
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void losers_lose_nothing(Host host) throws Throwable {
        Channel<Integer> a = new Channel<>();
        Channel<Integer> b = Channel.bounded(1);
        host.run(() -> {
            assertNull(Event.choose(a.sendEvt(1), b.recvEvt().wrap(x -> null), Event.timeoutMillis(5)).sync());
            assertNull(a.tryRecv());
            b.send(4);
            assertEquals(4, b.tryRecv());
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_nack_happens_if_and_only_if_its_branch_is_not_chosen(Host host) throws Throwable {
        host.run(() -> {
            List<Event<Void>> nacks = new ArrayList<>();
            Event<Integer> won = Event.withNack(n -> {
                nacks.add(n);
                return Event.always(1);
            });
            Event<Integer> lost = Event.withNack(n -> {
                nacks.add(n);
                return Event.never();
            });
            // Deep inside other combinators.
            Event<Integer> deep = Event.guard(() -> Event.choose(Event.<Integer>never(), lost.wrap(x -> x)).wrap(x -> x));
            boolean[] sawAtWrap = new boolean[1];
            int result = Event.prefer(deep, won.wrap(x -> {
                sawAtWrap[0] = has(nacks.get(0));
                return x;
            })).sync();
            assertEquals(1, result);
            assertTrue(sawAtWrap[0], "nacks have happened when a wrap runs");
            assertEquals(2, nacks.size());
            assertTrue(has(nacks.get(0)));
            assertEquals(false, has(nacks.get(1)));
        });
    }

    private static boolean has(Event<Void> nack) throws InterruptedException {
        return Event.prefer(nack.wrap(x -> true), Event.always(false)).sync();
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_nack_happens_when_the_guard_of_another_branch_throws(Host host) throws Throwable {
        host.run(() -> {
            AtomicReference<Event<Void>> nack = new AtomicReference<>();
            Event<Integer> first = Event.withNack(n -> {
                nack.set(n);
                return Event.never();
            });
            Event<Integer> broken = Event.guard(() -> {
                throw new IllegalStateException("broken");
            });
            assertThrows(IllegalStateException.class, () -> Event.prefer(first, broken).sync());
            assertTrue(has(nack.get()));
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_nack_happens_when_the_thread_is_interrupted(Host host) throws Throwable {
        IVar<Event<Void>> nack = new IVar<>();
        IVar<PicoThread> thread = new IVar<>();
        host.run(() -> {
            thread.put(PicoThread.currentThread());
            Event<Integer> e = Event.withNack(n -> {
                nack.put(n);
                return Event.never();
            });
            try {
                Event.choose(e, Event.<Integer>never()).sync();
            } catch (InterruptedException expected) {
                assertTrue(has(nack.get()));
                return;
            }
            throw new AssertionError("not interrupted");
        }, () -> {
            nack.get();
            thread.get().interrupt();
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_guard_runs_once_for_each_synchronisation(Host host) throws Throwable {
        host.run(() -> {
            AtomicInteger runs = new AtomicInteger();
            Channel<Integer> c = new Channel<>();
            Event<Integer> e = Event.guard(() -> {
                runs.incrementAndGet();
                return c.recvEvt();
            });
            for (int i = 1; i <= 3; i++) {
                Event.choose(e, Event.timeoutMillis(1).wrap(x -> 0)).sync();
                assertEquals(i, runs.get());
            }
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_channel_that_closes_is_an_outcome(Host host) throws Throwable {
        Channel<Integer> a = new Channel<>();
        Channel<Integer> b = new Channel<>();
        host.run(() -> {
            try {
                Event.choose(a.recvEvt(), b.recvEvt()).sync();
            } catch (ClosedException expected) {
                return;
            }
            throw new AssertionError("not closed");
        }, b::close);
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void all_of_several_happen_whoever_is_first(Host host) throws Throwable {
        Channel<Integer> a = new Channel<>();
        Channel<Integer> b = new Channel<>();
        Channel<Integer> c = new Channel<>();
        host.run(() -> assertEquals(Arrays.asList(1, 2, 6),
            Event.chooseAll(a.recvEvt(), b.recvEvt(), c.sendEvt(5).wrap(x -> 6)).sync()),
            () -> {
                assertEquals(5, c.recv());
                b.send(2);
                a.send(1);
            });
        host.run(() -> assertEquals(Arrays.asList(), Event.chooseAll().sync()));
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void all_of_several_within_a_choice_lose_as_a_whole(Host host) throws Throwable {
        Channel<Integer> a = new Channel<>();
        host.run(() -> {
            List<Event<Void>> nacks = new ArrayList<>();
            Event<Integer> in = Event.withNack(n -> {
                nacks.add(n);
                return Event.choose(a.recvEvt(), a.recvEvt());
            });
            assertEquals(Arrays.asList(7), Event.choose(Event.<Integer>chooseAll(in, a.sendEvt(2).wrap(x -> 2)),
                Event.timeoutMillis(2).wrap(x -> Arrays.asList(7))).sync());
            assertTrue(has(nacks.get(0)));
            assertNull(a.tryRecv());
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void all_nested_waits_for_all(Host host) throws Throwable {
        Channel<Integer> a = new Channel<>();
        Channel<Integer> b = new Channel<>();
        Channel<Integer> c = new Channel<>();
        host.run(() -> {
            Event<List<Integer>> inner = Event.chooseAll(a.recvEvt(), Event.choose(b.recvEvt(), Event.<Integer>never()));
            List<Object> all = Event.<Object>chooseAll(inner, c.recvEvt()).sync();
            assertEquals(Arrays.asList(Arrays.asList(1, 2), 3), all);
        }, () -> {
            b.send(2);
            c.send(3);
            a.send(1);
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void every_value_arrives_once_in_a_storm_of_choices(Host host) throws Throwable {
        int channels = 3;
        int threads = 4;
        int each = 500;
        List<Channel<Integer>> all = Arrays.asList(new Channel<>(), Channel.bounded(1), Channel.bounded(3));
        AtomicInteger[] seen = new AtomicInteger[threads * each];
        Arrays.setAll(seen, i -> new AtomicInteger());
        List<Host.Task> tasks = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            int base = t * each;
            tasks.add(() -> {
                for (int i = 0; i < each; i++) {
                    int v = base + i;
                    Event<Integer> e = Event.choose(all.get(v % channels).sendEvt(v).wrap(x -> 1), all.get((v + 1) % channels).sendEvt(v).wrap(x -> 1),
                        Event.timeoutMillis(1).wrap(x -> 0));
                    while (e.sync() == 0) {
                        // Timed out: nothing was sent.
                        Thread.yield();
                    }
                }
            });
        }
        AtomicInteger got = new AtomicInteger();
        for (int t = 0; t < threads; t++) {
            tasks.add(() -> {
                while (got.get() < seen.length) {
                    Integer v = Event.choose(all.get(0).recvEvt(), all.get(1).recvEvt(), all.get(2).recvEvt(), Event.timeoutMillis(2).wrap(x -> -1)).sync();
                    if (v >= 0) {
                        seen[v].incrementAndGet();
                        got.incrementAndGet();
                    }
                }
            });
        }
        host.run(tasks);
        for (int i = 0; i < seen.length; i++) {
            assertEquals(1, seen[i].get(), "value " + i);
        }
    }

    /** Both sides choose between sending and receiving on the same channels: each communication has two ends. */
    @ParameterizedTest
    @EnumSource(Host.class)
    void choices_of_send_and_receive_on_both_sides_balance(Host host) throws Throwable {
        Channel<Integer> a = new Channel<>();
        Channel<Integer> b = new Channel<>();
        AtomicInteger sent = new AtomicInteger();
        AtomicInteger received = new AtomicInteger();
        List<Host.Task> tasks = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            tasks.add(() -> {
                for (int i = 0; i < 1000; i++) {
                    int way = Event.choose(a.sendEvt(1).wrap(x -> 1), b.recvEvt().wrap(x -> 2), a.recvEvt().wrap(x -> 2), b.sendEvt(1).wrap(x -> 1),
                        Event.timeoutMillis(20).wrap(x -> 0)).sync();
                    if (way == 1) {
                        sent.incrementAndGet();
                    } else if (way == 2) {
                        received.incrementAndGet();
                    }
                }
            });
        }
        host.run(tasks);
        assertEquals(sent.get(), received.get());
        assertTrue(sent.get() > 0);
    }
}
