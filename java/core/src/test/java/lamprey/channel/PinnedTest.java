package lamprey.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.concurrent.locks.Condition;
import lamprey.concurrent.LinkedBlockingQueue;
import lamprey.concurrent.ReentrantLock;
import lamprey.event.Event;
import lamprey.event.Host;
import lamprey.instrument.PinnedError;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Threads that cannot be suspended, as a method of the JDK stands in the way, get an error, and nothing that they waited for is lost. */
@Timeout(240)
class PinnedTest {
    private interface Blocking {
        void run() throws InterruptedException;
    }

    /** Calls {@code b} by a comparator that the JDK calls. */
    private static void pinned(Blocking b) {
        boolean refused = false;
        try {
            Arrays.asList(2, 1).sort((x, y) -> {
                try {
                    b.run();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                return 0;
            });
        } catch (Error e) {
            refused = e instanceof PinnedError;
        }
        assertTrue(refused);
    }

    @ParameterizedTest
    @EnumSource(value = Host.class, names = {"ONE_CARRIER", "THREE_CARRIERS"})
    void a_receive_that_cannot_wait_takes_nothing_later(Host host) throws Throwable {
        Channel<Integer> c = new Channel<>();
        host.run(() -> {
            pinned(c::recv);
            assertFalse(c.trySend(1));
        });
        host.run(() -> c.send(5), () -> assertEquals(5, c.recv()));
    }

    @ParameterizedTest
    @EnumSource(value = Host.class, names = {"ONE_CARRIER", "THREE_CARRIERS"})
    void a_send_that_cannot_wait_sends_nothing_later(Host host) throws Throwable {
        Channel<Integer> c = new Channel<>();
        host.run(() -> {
            pinned(() -> c.send(1));
            assertNull(c.tryRecv());
        });
    }

    @ParameterizedTest
    @EnumSource(value = Host.class, names = {"ONE_CARRIER", "THREE_CARRIERS"})
    void a_choice_that_cannot_wait_takes_its_offers_back_and_its_nacks_happen(Host host) throws Throwable {
        Channel<Integer> c = new Channel<>();
        IVar<Event<Void>> nack = new IVar<>();
        host.run(() -> {
            pinned(() -> Event.choose(c.recvEvt(), Event.<Integer>withNack(n -> {
                nack.put(n);
                return Event.never();
            })).sync());
            assertFalse(c.trySend(1));
            nack.get().sync();
        });
    }

    @ParameterizedTest
    @EnumSource(value = Host.class, names = {"ONE_CARRIER", "THREE_CARRIERS"})
    void a_condition_that_cannot_wait_keeps_the_lock(Host host) throws Throwable {
        ReentrantLock lock = new ReentrantLock();
        Condition c = lock.newCondition();
        host.run(() -> {
            lock.lock();
            pinned(c::await);
            assertTrue(lock.isHeldByCurrentThread());
            assertFalse(lock.hasWaiters(c));
            lock.unlock();
        });
        assertFalse(lock.isLocked());
    }

    @ParameterizedTest
    @EnumSource(value = Host.class, names = {"ONE_CARRIER", "THREE_CARRIERS"})
    void a_lock_and_a_queue_forget_who_cannot_wait(Host host) throws Throwable {
        ReentrantLock lock = new ReentrantLock();
        LinkedBlockingQueue<Integer> q = new LinkedBlockingQueue<>();
        IVar<Void> held = new IVar<>();
        IVar<Void> tried = new IVar<>();
        host.run(() -> {
            lock.lock();
            held.put(null);
            tried.get();
            lock.unlock();
            q.put(4);
        }, () -> {
            held.get();
            pinned(lock::lock);
            pinned(q::take);
            tried.put(null);
            lock.lock();
            lock.unlock();
            assertEquals(4, q.take());
        });
    }
}
