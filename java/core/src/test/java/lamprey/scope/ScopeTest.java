package lamprey.scope;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import lamprey.PicoThread;
import lamprey.channel.Channel;
import lamprey.channel.IVar;
import lamprey.event.Host;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(240)
class ScopeTest {
    @ParameterizedTest
    @EnumSource(Host.class)
    void threads_end_before_the_scope(Host host) throws Throwable {
        host.run(() -> {
            AtomicInteger ended = new AtomicInteger();
            int sum = Scope.<Integer>call(s -> {
                for (int i = 0; i < 10; i++) {
                    s.spawn(() -> {
                        PicoThread.yield();
                        ended.incrementAndGet();
                    });
                }
                Fork<Integer> a = s.fork(() -> 1);
                Fork<Integer> b = s.fork(() -> a.join() + 2);
                return a.join() + b.join();
            });
            assertEquals(4, sum);
            assertEquals(10, ended.get());
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void the_first_failure_interrupts_the_others_and_is_thrown(Host host) throws Throwable {
        host.run(() -> {
            AtomicInteger interrupted = new AtomicInteger();
            Channel<Integer> never = new Channel<>();
            Exception thrown = null;
            try {
                Scope.run(s -> {
                    for (int i = 0; i < 3; i++) {
                        s.fork(() -> {
                            try {
                                return never.recv();
                            } catch (InterruptedException e) {
                                interrupted.incrementAndGet();
                                throw e;
                            }
                        });
                    }
                    s.spawn(() -> {
                        throw new IllegalStateException("first");
                    });
                    never.recv();
                });
            } catch (Exception e) {
                thrown = e;
            }
            assertEquals("first", thrown.getMessage());
            assertEquals(3, interrupted.get());
            assertFalse(PicoThread.currentThread().isInterrupted());
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_failure_that_is_joined_is_not_suppressed_by_itself(Host host) throws Throwable {
        host.run(() -> {
            Exception thrown = null;
            try {
                Scope.run(s -> s.fork(() -> {
                    throw new IllegalStateException("once");
                }).join());
            } catch (Exception e) {
                thrown = e;
            }
            // Whichever was first: that of the thread, or that of the join.
            Throwable first = thrown instanceof ExecutionException ? thrown.getCause() : thrown;
            assertEquals("once", first.getMessage());
            assertEquals(0, thrown.getSuppressed().length);
            assertEquals(0, first.getSuppressed().length);
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_failure_of_the_body_cancels_the_threads(Host host) throws Throwable {
        host.run(() -> {
            Exception thrown = null;
            try {
                Scope.run(s -> {
                    s.fork(() -> new Channel<Integer>().recv());
                    throw new IllegalStateException("body");
                });
            } catch (Exception e) {
                thrown = e;
            }
            assertEquals("body", thrown.getMessage());
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void an_interrupt_of_the_owner_cancels_the_scope(Host host) throws Throwable {
        IVar<PicoThread> owner = new IVar<>();
        host.run(() -> {
            owner.put(PicoThread.currentThread());
            boolean interrupted = false;
            try {
                Scope.run(s -> s.fork(() -> new Channel<Integer>().recv()));
            } catch (InterruptedException e) {
                interrupted = true;
            }
            assertTrue(interrupted);
        }, () -> owner.get().interrupt());
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_deadline_cancels_the_scope(Host host) throws Throwable {
        host.run(() -> {
            boolean late = false;
            try {
                Scope.call(2, TimeUnit.MILLISECONDS, s -> new Channel<Integer>().recv());
            } catch (TimeoutException e) {
                late = true;
            }
            assertTrue(late);
            assertFalse(PicoThread.currentThread().isInterrupted());
            assertEquals(3, Scope.<Integer>call(1, TimeUnit.HOURS, s -> s.fork(() -> 3).join()));
        });
    }
}
