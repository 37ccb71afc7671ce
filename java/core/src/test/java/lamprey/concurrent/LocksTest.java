package lamprey.concurrent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import lamprey.PicoThread;
import lamprey.channel.IVar;
import lamprey.event.Host;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(240)
class LocksTest {
    private static final class Counter {
        int n;
    }

    private static void excludes(Host host, Lock lock) throws Throwable {
        Counter c = new Counter();
        List<Host.Task> tasks = new ArrayList<>();
        for (int t = 0; t < 6; t++) {
            tasks.add(() -> {
                for (int i = 0; i < 500; i++) {
                    lock.lock();
                    try {
                        int x = c.n;
                        if (i % 8 == 0) {
                            PicoThread.yield();
                        }
                        c.n = x + 1;
                    } finally {
                        lock.unlock();
                    }
                }
            });
        }
        host.run(tasks);
        assertEquals(3000, c.n);
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void locks_exclude(Host host) throws Throwable {
        excludes(host, new ReentrantLock());
        excludes(host, new ReentrantLock(true));
        excludes(host, new ReentrantReadWriteLock().writeLock());
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_lock_is_reentrant_and_knows_its_owner(Host host) throws Throwable {
        ReentrantLock lock = new ReentrantLock();
        host.run(() -> {
            lock.lock();
            lock.lock();
            assertEquals(2, lock.getHoldCount());
            PicoThread.yield();
            lock.unlock();
            assertTrue(lock.isLocked());
            assertTrue(lock.isHeldByCurrentThread());
            lock.unlock();
            assertFalse(lock.isLocked());
            boolean refused = false;
            try {
                lock.unlock();
            } catch (IllegalMonitorStateException e) {
                refused = true;
            }
            assertTrue(refused);
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_lock_can_be_given_up_waiting_for(Host host) throws Throwable {
        ReentrantLock lock = new ReentrantLock();
        IVar<PicoThread> waiting = new IVar<>();
        IVar<Void> held = new IVar<>();
        IVar<Void> done = new IVar<>();
        host.run(() -> {
            lock.lock();
            held.put(null);
            done.get();
            lock.unlock();
        }, () -> {
            held.get();
            assertFalse(lock.tryLock());
            assertFalse(lock.tryLock(1, TimeUnit.MILLISECONDS));
            waiting.put(PicoThread.currentThread());
            try {
                lock.lockInterruptibly();
            } catch (InterruptedException e) {
                done.put(null);
                lock.lock();
                lock.unlock();
                return;
            }
            throw new AssertionError("not interrupted");
        }, () -> waiting.get().interrupt());
        assertFalse(lock.isLocked());
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_condition_hands_items_over(Host host) throws Throwable {
        ReentrantLock lock = new ReentrantLock();
        Condition changed = lock.newCondition();
        Counter items = new Counter();
        AtomicInteger taken = new AtomicInteger();
        List<Host.Task> tasks = new ArrayList<>();
        for (int t = 0; t < 3; t++) {
            tasks.add(() -> {
                for (int i = 0; i < 300; i++) {
                    lock.lock();
                    try {
                        while (items.n == 0) {
                            changed.await();
                        }
                        items.n--;
                        taken.incrementAndGet();
                        changed.signal();
                    } finally {
                        lock.unlock();
                    }
                }
            });
            tasks.add(() -> {
                for (int i = 0; i < 300; i++) {
                    lock.lock();
                    try {
                        while (items.n == 2) {
                            changed.await();
                        }
                        items.n++;
                        changed.signalAll();
                    } finally {
                        lock.unlock();
                    }
                }
            });
        }
        host.run(tasks);
        assertEquals(900, taken.get());
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_condition_ends_by_time_and_interrupt_with_the_lock_held(Host host) throws Throwable {
        ReentrantLock lock = new ReentrantLock();
        Condition c = lock.newCondition();
        IVar<PicoThread> thread = new IVar<>();
        host.run(() -> {
            lock.lock();
            lock.lock();
            assertFalse(c.await(1, TimeUnit.MILLISECONDS));
            assertTrue(c.awaitNanos(1000) <= 0);
            assertEquals(2, lock.getHoldCount());
            thread.put(PicoThread.currentThread());
            boolean interrupted = false;
            try {
                c.await();
            } catch (InterruptedException e) {
                interrupted = true;
            }
            assertTrue(interrupted);
            assertEquals(2, lock.getHoldCount());
            lock.unlock();
            lock.unlock();
        }, () -> thread.get().interrupt());
        assertThrows(IllegalMonitorStateException.class, c::signal);
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void readers_share_and_writers_exclude(Host host) throws Throwable {
        for (boolean fair : new boolean[] {false, true}) {
            ReentrantReadWriteLock lock = new ReentrantReadWriteLock(fair);
            AtomicInteger readers = new AtomicInteger();
            AtomicInteger writers = new AtomicInteger();
            List<Host.Task> tasks = new ArrayList<>();
            for (int t = 0; t < 3; t++) {
                tasks.add(() -> {
                    for (int i = 0; i < 200; i++) {
                        lock.readLock().lock();
                        readers.incrementAndGet();
                        assertEquals(0, writers.get());
                        PicoThread.yield();
                        lock.readLock().lock();
                        lock.readLock().unlock();
                        readers.decrementAndGet();
                        lock.readLock().unlock();
                    }
                });
                tasks.add(() -> {
                    for (int i = 0; i < 100; i++) {
                        lock.writeLock().lock();
                        assertEquals(1, writers.incrementAndGet());
                        assertEquals(0, readers.get());
                        PicoThread.yield();
                        writers.decrementAndGet();
                        // Downgrade.
                        lock.readLock().lock();
                        lock.writeLock().unlock();
                        lock.readLock().unlock();
                    }
                });
            }
            host.run(tasks);
            assertEquals(0, lock.getReadLockCount());
            assertFalse(lock.isWriteLocked());
        }
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_semaphore_admits_as_many_as_it_has_permits(Host host) throws Throwable {
        for (boolean fair : new boolean[] {false, true}) {
            Semaphore s = new Semaphore(3, fair);
            AtomicInteger inside = new AtomicInteger();
            List<Host.Task> tasks = new ArrayList<>();
            for (int t = 0; t < 8; t++) {
                int n = t % 3 + 1;
                tasks.add(() -> {
                    for (int i = 0; i < 100; i++) {
                        s.acquire(n);
                        assertTrue(inside.addAndGet(n) <= 3);
                        PicoThread.yield();
                        inside.addAndGet(-n);
                        s.release(n);
                    }
                });
            }
            host.run(tasks);
            assertEquals(3, s.availablePermits());
            host.run(() -> assertFalse(s.tryAcquire(4, 1, TimeUnit.MILLISECONDS)));
            assertEquals(3, s.drainPermits());
        }
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_latch_opens_once(Host host) throws Throwable {
        CountDownLatch latch = new CountDownLatch(2);
        Host.Task waiter = latch::await;
        host.run(waiter, waiter, latch::countDown, () -> {
            latch.countDown();
            assertTrue(latch.await(1, TimeUnit.MINUTES));
        });
        assertEquals(0, latch.getCount());
        host.run(() -> assertFalse(new CountDownLatch(1).await(1, TimeUnit.MILLISECONDS)));
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_barrier_lets_rounds_begin_together(Host host) throws Throwable {
        AtomicInteger rounds = new AtomicInteger();
        AtomicInteger arrived = new AtomicInteger();
        CyclicBarrier barrier = new CyclicBarrier(3, () -> {
            assertEquals(0, arrived.get() % 3);
            rounds.incrementAndGet();
        });
        Host.Task task = () -> {
            for (int i = 0; i < 100; i++) {
                arrived.incrementAndGet();
                barrier.await();
                assertTrue(rounds.get() > i);
                barrier.await();
            }
        };
        host.run(task, task, task);
        assertEquals(200, rounds.get());
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_barrier_breaks_for_all(Host host) throws Throwable {
        CyclicBarrier barrier = new CyclicBarrier(3);
        AtomicInteger broken = new AtomicInteger();
        host.run(() -> {
            try {
                barrier.await();
            } catch (BrokenBarrierException e) {
                broken.incrementAndGet();
            }
        }, () -> {
            try {
                barrier.await(1, TimeUnit.MILLISECONDS);
            } catch (TimeoutException | BrokenBarrierException e) {
                broken.incrementAndGet();
            }
        });
        assertEquals(2, broken.get());
        assertTrue(barrier.isBroken());
        barrier.reset();
        assertFalse(barrier.isBroken());
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_phaser_advances_when_all_have_arrived(Host host) throws Throwable {
        Phaser root = new Phaser(1);
        Phaser child = new Phaser(root, 2);
        AtomicInteger arrived = new AtomicInteger();
        Host.Task task = () -> {
            for (int i = 0; i < 50; i++) {
                arrived.incrementAndGet();
                child.arriveAndAwaitAdvance();
                assertTrue(arrived.get() >= 3 * (i + 1));
            }
        };
        host.run(task, task, () -> {
            for (int i = 0; i < 50; i++) {
                arrived.incrementAndGet();
                root.arriveAndAwaitAdvance();
            }
        });
        assertEquals(50, root.getPhase());
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void an_exchanger_swaps(Host host) throws Throwable {
        Exchanger<Integer> x = new Exchanger<>();
        AtomicInteger sum = new AtomicInteger();
        host.run(() -> {
            for (int i = 0; i < 200; i++) {
                assertEquals(-i, x.exchange(i));
                sum.incrementAndGet();
            }
        }, () -> {
            for (int i = 0; i < 200; i++) {
                assertEquals(i, x.exchange(-i));
                sum.incrementAndGet();
            }
        });
        assertEquals(400, sum.get());
        host.run(() -> {
            boolean late = false;
            try {
                x.exchange(1, 1, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                late = true;
            }
            assertTrue(late);
        });
    }

    /** A mutex that another thread may release, as programs write it. */
    private static final class Mutex extends QueuedSynchronizer {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean tryAcquire(int unused) {
            return compareAndSetState(0, 1);
        }

        @Override
        protected boolean tryRelease(int unused) {
            setState(0);
            return true;
        }
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void no_wake_is_lost_if_others_release(Host host) throws Throwable {
        Mutex m = new Mutex();
        LinkedBlockingQueue<Integer> acquired = new LinkedBlockingQueue<>();
        AtomicInteger done = new AtomicInteger();
        Host.Task taker = () -> {
            for (int i = 0; i < 500; i++) {
                m.acquire(1);
                acquired.put(i);
            }
        };
        Host.Task releaser = () -> {
            for (int i = 0; i < 500; i++) {
                acquired.take();
                m.release(1);
                done.incrementAndGet();
            }
        };
        host.run(taker, releaser, taker, releaser);
        assertEquals(1000, done.get());
    }
}
