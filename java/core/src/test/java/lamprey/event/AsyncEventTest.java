package lamprey.event;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import lamprey.PicoThread;
import lamprey.channel.Channel;
import lamprey.channel.ClosedException;
import lamprey.channel.IVar;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Asynchronous events, and the event of a thread's end. */
@Timeout(240)
class AsyncEventTest {
    @ParameterizedTest
    @EnumSource(Host.class)
    void a_send_and_a_receive_of_one_thread_meet(Host host) throws Throwable {
        Channel<Integer> c = new Channel<>();
        host.run(() -> {
            AsyncEvent.Begun<String, Void> sent = c.aSendEvt(4).sWrap(nothing -> "begun").aSync();
            assertEquals("begun", sent.created());
            assertEquals(5, c.aRecvEvt().aWrap(n -> n + 1).aSync().result().sync());
            assertNull(sent.result().sync());
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_receive_that_is_cancelled_receives_nothing(Host host) throws Throwable {
        Channel<Integer> c = new Channel<>();
        host.run(() -> {
            AsyncEvent.Begun<Void, Integer> b = c.aRecvEvt().aSync();
            b.cancel();
            assertTrue(failure(b.result()).getCause() instanceof InterruptedException);
            assertFalse(c.trySend(1));
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_failure_comes_with_the_result(Host host) throws Throwable {
        Channel<Integer> c = new Channel<>();
        host.run(() -> {
            AsyncEvent.Begun<Void, Integer> b = c.aRecvEvt().aSync();
            c.close();
            assertTrue(failure(b.result()).getCause() instanceof ClosedException);
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_creation_value_that_fails_begins_nothing(Host host) throws Throwable {
        Channel<Integer> c = Channel.bounded(1);
        host.run(() -> {
            try {
                c.aSendEvt(1).sWrap(x -> {
                    throw new IllegalStateException("no");
                }).aSync();
                throw new AssertionError("nothing was thrown");
            } catch (IllegalStateException e) {
                assertEquals("no", e.getMessage());
            }
            assertNull(c.tryRecv());
        });
    }

    private static IllegalStateException failure(Event<?> e) throws InterruptedException {
        try {
            e.sync();
        } catch (IllegalStateException failed) {
            return failed;
        }
        throw new AssertionError("nothing was thrown");
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void the_end_of_a_thread_is_an_event(Host host) throws Throwable {
        Channel<Integer> c = new Channel<>();
        host.run(() -> {
            IVar<Integer> got = new IVar<>();
            PicoThread t = PicoThread.spawn(() -> {
                try {
                    got.put(c.recv());
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            Event<String> end = t.joinEvt().wrap(x -> "end");
            assertEquals("not yet", Event.prefer(end, Event.always("not yet")).sync());
            c.send(3);
            assertEquals("end", Event.choose(end, Event.never()).sync());
            assertEquals(3, got.get());
            assertEquals("end", Event.prefer(end, Event.always("not yet")).sync());
            new PicoThread(() -> { }).joinEvt().sync();
        });
    }
}
