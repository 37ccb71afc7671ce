package lamprey.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantReadWriteLock.WriteLock;
import lamprey.PicoThread;
import lamprey.concurrent.CyclicBarrier;
import lamprey.concurrent.Exchanger;
import lamprey.concurrent.QueuedSynchronizer;
import lamprey.concurrent.ReentrantReadWriteLock;
import lamprey.event.Event;
import lamprey.event.Host;
import lamprey.instrument.PinnedError;
import lamprey.scope.Scope;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An operation that fails, by an interrupt or as the thread cannot be suspended, has not happened in part. */
@Timeout(240)
class GiveBackTest {
    private interface Blocking {
        void run() throws Exception;
    }

    /** Calls {@code b} by a comparator that the JDK calls. */
    private static void pinned(Blocking b) {
        assertThrows(PinnedError.class, () -> Arrays.asList(2, 1).sort((x, y) -> {
            try {
                b.run();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
            return 0;
        }));
    }

    /** As assertThrows, which is not transformed. */
    private static Throwable thrown(Class<? extends Throwable> by, Blocking b) {
        try {
            b.run();
        } catch (Throwable t) {
            assertEquals(by, t.getClass());
            return t;
        }
        throw new AssertionError("nothing was thrown");
    }

    /** All sorts of sources, each with a value. */
    private static final class Sources {
        final Channel<Object> rendezvous = new Channel<>();
        final Channel<Object> bounded = Channel.bounded(2);
        final MVar<Object> mvar = new MVar<>("mvar");
        final Broadcast<Object> broadcast = new Broadcast<>(1);
        final Broadcast.Subscriber<Object> subscriber = broadcast.subscribe();
        final Watch<Object> watch = new Watch<>("old");
        final Watch.Reader<Object> reader = watch.reader();
        final Channel<Object> target = Channel.bounded(1);
        final Channel<Object> nothing = new Channel<>();

        Sources() throws InterruptedException {
            bounded.send("first");
            bounded.send("second");
            broadcast.send("missed");
            broadcast.send("broadcast");
            watch.set("new");
        }

        Event<?> all() {
            return Event.<Object>chooseAll(rendezvous.recvEvt(), bounded.recvEvt(), mvar.takeEvt(), subscriber.recvEvt(), reader.changedEvt(),
                target.sendEvt("sent").wrap(x -> x), nothing.recvEvt());
        }

        void check() throws InterruptedException {
            assertEquals("given", rendezvous.recv());
            assertEquals("first", bounded.recv());
            assertEquals("second", bounded.recv());
            assertEquals("mvar", mvar.take());
            thrown(LaggedException.class, subscriber::recv);
            assertEquals("broadcast", subscriber.recv());
            assertEquals("new", reader.changed());
            assertEquals("sent", target.tryRecv(), "what was sent stays sent");
            assertFalse(nothing.trySend("x"), "nobody receives any more");
        }
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void what_a_chooseAll_has_received_goes_back_when_it_is_interrupted(Host host) throws Throwable {
        Sources s = new Sources();
        IVar<PicoThread> chooser = new IVar<>();
        host.run(() -> {
            chooser.put(PicoThread.currentThread());
            thrown(InterruptedException.class, s.all()::sync);
            s.check();
        }, () -> {
            PicoThread t = chooser.get();
            // When it is received, the other members that can happen at once may not have: they are counted below.
            s.rendezvous.send("given");
            while (s.target.size() == 0 || s.bounded.size() == 2) {
                PicoThread.yield();
            }
            t.interrupt();
        });
    }

    @ParameterizedTest
    @EnumSource(value = Host.class, names = {"ONE_CARRIER", "THREE_CARRIERS"})
    void what_a_chooseAll_has_received_goes_back_when_it_cannot_wait(Host host) throws Throwable {
        Sources s = new Sources();
        host.run(() -> {
            pinned(s.all()::sync);
            assertFalse(s.rendezvous.trySend("x"));
            PicoThread.spawn(() -> {
                try {
                    s.rendezvous.send("given");
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            s.check();
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void what_a_chooseAll_has_received_goes_back_when_a_member_is_closed(Host host) throws Throwable {
        Channel<Integer> c = Channel.bounded(1);
        Channel<Integer> closed = new Channel<>();
        c.send(4);
        closed.close();
        host.run(() -> {
            thrown(ClosedException.class, Event.chooseAll(c.recvEvt(), closed.recvEvt())::sync);
            assertEquals(4, c.tryRecv());
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void what_goes_back_goes_to_one_who_waits(Host host) throws Throwable {
        Channel<Integer> c = Channel.bounded(1);
        Channel<Integer> nothing = new Channel<>();
        c.send(4);
        IVar<PicoThread> chooser = new IVar<>();
        host.run(() -> {
            chooser.put(PicoThread.currentThread());
            thrown(InterruptedException.class, Event.chooseAll(c.recvEvt(), nothing.recvEvt())::sync);
        }, () -> {
            PicoThread t = chooser.get();
            while (c.size() != 0) {
                PicoThread.yield();
            }
            t.interrupt();
            assertEquals(4, c.recv());
        });
    }

    /** A lock as programs write them. */
    private static final class Mutex extends QueuedSynchronizer {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean tryAcquire(int n) {
            if (!compareAndSetState(0, n)) {
                return false;
            }
            setExclusiveOwnerThread(PicoThread.currentThread());
            return true;
        }

        @Override
        protected boolean tryRelease(int n) {
            if (getExclusiveOwnerThread() != PicoThread.currentThread()) {
                throw new IllegalMonitorStateException();
            }
            setExclusiveOwnerThread(null);
            setState(0);
            return true;
        }

        @Override
        protected boolean isHeldExclusively() {
            return getState() != 0 && getExclusiveOwnerThread() == PicoThread.currentThread();
        }

        boolean isHeld() {
            return isHeldExclusively();
        }
    }

    @ParameterizedTest
    @EnumSource(value = Host.class, names = {"ONE_CARRIER", "THREE_CARRIERS"})
    void the_condition_of_a_programs_own_lock_keeps_it_when_it_cannot_wait(Host host) throws Throwable {
        Mutex lock = new Mutex();
        QueuedSynchronizer.ConditionObject c = lock.new ConditionObject();
        host.run(() -> {
            lock.acquire(1);
            pinned(c::await);
            assertTrue(lock.isHeld());
            assertFalse(lock.hasWaiters(c));
            lock.release(1);
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void the_condition_of_a_programs_own_lock_waits(Host host) throws Throwable {
        Mutex lock = new Mutex();
        QueuedSynchronizer.ConditionObject c = lock.new ConditionObject();
        boolean[] done = new boolean[1];
        host.run(() -> {
            lock.acquire(1);
            while (!done[0]) {
                c.await();
            }
            assertTrue(lock.isHeld());
            lock.release(1);
        }, () -> {
            lock.acquire(1);
            done[0] = true;
            c.signalAll();
            lock.release(1);
        });
    }

    /** Refuses to be released. */
    private static final class Stubborn extends QueuedSynchronizer {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean isHeldExclusively() {
            return true;
        }

        @Override
        protected boolean tryRelease(int n) {
            throw new IllegalMonitorStateException("stubborn");
        }
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_lock_that_cannot_be_released_is_not_waited_for(Host host) throws Throwable {
        Stubborn lock = new Stubborn();
        QueuedSynchronizer.ConditionObject c = lock.new ConditionObject();
        host.run(() -> {
            assertEquals("stubborn", thrown(IllegalMonitorStateException.class, c::await).getMessage());
            assertFalse(lock.hasWaiters(c));
        });
    }

    @ParameterizedTest
    @EnumSource(value = Host.class, names = {"ONE_CARRIER", "THREE_CARRIERS"})
    void the_condition_of_a_write_lock_keeps_it_when_it_cannot_wait(Host host) throws Throwable {
        ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        WriteLock write = lock.writeLock();
        Condition c = write.newCondition();
        host.run(() -> {
            write.lock();
            write.lock();
            pinned(c::await);
            assertEquals(2, write.getHoldCount());
            write.unlock();
            write.unlock();
        });
    }

    @ParameterizedTest
    @EnumSource(value = Host.class, names = {"ONE_CARRIER", "THREE_CARRIERS"})
    void an_exchanger_takes_nothing_of_one_that_cannot_wait(Host host) throws Throwable {
        Exchanger<String> x = new Exchanger<>();
        host.run(() -> {
            pinned(() -> x.exchange("lost"));
            PicoThread.spawn(() -> {
                try {
                    assertEquals("b", x.exchange("a"));
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            assertEquals("a", x.exchange("b"));
        });
    }

    @ParameterizedTest
    @EnumSource(value = Host.class, names = {"ONE_CARRIER", "THREE_CARRIERS"})
    void a_barrier_breaks_when_a_party_cannot_wait(Host host) throws Throwable {
        CyclicBarrier b = new CyclicBarrier(2);
        host.run(() -> {
            pinned(b::await);
            assertTrue(b.isBroken());
            thrown(BrokenBarrierException.class, b::await);
            b.reset();
            assertEquals(0, b.getNumberWaiting());
        });
    }

    @ParameterizedTest
    @EnumSource(value = Host.class, names = {"ONE_CARRIER", "THREE_CARRIERS"})
    void a_scope_that_cannot_wait_is_cancelled(Host host) throws Throwable {
        IVar<Boolean> interrupted = new IVar<>();
        Channel<Integer> nothing = new Channel<>();
        host.run(() -> {
            pinned(() -> Scope.run(s -> s.spawn(() -> {
                try {
                    nothing.recv();
                    interrupted.put(false);
                } catch (InterruptedException e) {
                    interrupted.put(true);
                }
            })));
            assertTrue(interrupted.get());
            assertNull(nothing.tryRecv());
        });
    }
}
