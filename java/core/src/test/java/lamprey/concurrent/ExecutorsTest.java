package lamprey.concurrent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Delayed;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import lamprey.PicoRuntime;
import lamprey.PicoThread;
import lamprey.channel.Channel;
import lamprey.channel.IVar;
import lamprey.event.Host;
import lamprey.instrument.PinnedError;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(240)
class ExecutorsTest {
    @ParameterizedTest
    @EnumSource(Host.class)
    void every_task_runs_once_in_every_pool(Host host) throws Throwable {
        for (ExecutorService e : Arrays.asList(Executors.newFixedThreadPool(3), Executors.newCachedThreadPool(), Executors.newSingleThreadExecutor(),
                Executors.newVirtualThreadPerTaskExecutor(), Executors.newScheduledThreadPool(2), Executors.newScheduledThreadPool(0))) {
            host.run(() -> {
                AtomicInteger runs = new AtomicInteger();
                List<Future<Integer>> futures = new ArrayList<>();
                for (int i = 0; i < 50; i++) {
                    int n = i;
                    futures.add(e.submit(() -> {
                        PicoThread.sleep(1);
                        runs.incrementAndGet();
                        return n;
                    }));
                }
                for (int i = 0; i < 50; i++) {
                    assertEquals(i, futures.get(i).get());
                }
                e.shutdown();
                assertTrue(e.awaitTermination(1, TimeUnit.MINUTES));
                assertTrue(e.isTerminated());
                assertEquals(50, runs.get());
                boolean refused = false;
                try {
                    e.execute(() -> runs.incrementAndGet());
                } catch (RejectedExecutionException x) {
                    refused = true;
                }
                assertTrue(refused);
            });
        }
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_fixed_pool_runs_as_many_at_once_as_it_has_threads(Host host) throws Throwable {
        ThreadPoolExecutor e = new ThreadPoolExecutor(3, 3, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
        host.run(() -> {
            AtomicInteger now = new AtomicInteger();
            AtomicInteger most = new AtomicInteger();
            for (int i = 0; i < 40; i++) {
                e.execute(() -> {
                    most.accumulateAndGet(now.incrementAndGet(), Math::max);
                    PicoThread.yield();
                    now.decrementAndGet();
                });
            }
            e.shutdown();
            assertTrue(e.awaitTermination(1, TimeUnit.MINUTES));
            assertTrue(most.get() <= 3, "" + most);
            assertEquals(40, e.getCompletedTaskCount());
            assertEquals(0, e.getPoolSize());
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_pool_that_is_stopped_interrupts_and_gives_the_rest_back(Host host) throws Throwable {
        ExecutorService e = Executors.newFixedThreadPool(1);
        host.run(() -> {
            IVar<Void> running = new IVar<>();
            IVar<Boolean> interrupted = new IVar<>();
            e.execute(() -> {
                running.put(null);
                try {
                    new Channel<Integer>().recv();
                } catch (InterruptedException x) {
                    interrupted.put(true);
                }
            });
            e.execute(() -> interrupted.put(false));
            running.get();
            assertEquals(1, e.shutdownNow().size());
            assertTrue(interrupted.get());
            assertTrue(e.awaitTermination(1, TimeUnit.MINUTES));
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_thread_whose_task_fails_is_replaced(Host host) throws Throwable {
        ThreadPoolExecutor e = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            PicoThread t = new PicoThread(task);
            t.setUncaughtExceptionHandler((thread, x) -> {});
            return t;
        });
        host.run(() -> {
            for (int i = 0; i < 3; i++) {
                e.execute(() -> {
                    throw new IllegalStateException("expected");
                });
            }
            assertEquals(5, e.submit(() -> 5).get());
            e.shutdown();
            assertTrue(e.awaitTermination(1, TimeUnit.MINUTES));
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void a_caller_runs_what_does_not_fit(Host host) throws Throwable {
        ThreadPoolExecutor e = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(1),
            new java.util.concurrent.ThreadPoolExecutor.CallerRunsPolicy());
        host.run(() -> {
            IVar<Void> go = new IVar<>();
            IVar<Void> busy = new IVar<>();
            e.execute(() -> {
                busy.put(null);
                try {
                    go.get();
                } catch (InterruptedException x) {
                    throw new AssertionError(x);
                }
            });
            busy.get();
            e.execute(() -> {});
            PicoThread[] ran = new PicoThread[1];
            Future<?> f = e.submit(() -> {
                // Blocks in the calling thread.
                PicoThread.yield();
                ran[0] = PicoThread.currentThread();
            });
            f.get();
            assertSame(PicoThread.currentThread(), ran[0]);
            go.put(null);
            e.shutdown();
            assertTrue(e.awaitTermination(1, TimeUnit.MINUTES));
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void futures_fail_are_cancelled_and_time_out(Host host) throws Throwable {
        ExecutorService e = Executors.newCachedThreadPool();
        host.run(() -> {
            Future<Integer> failing = e.submit((Callable<Integer>) () -> {
                throw new IllegalStateException("expected");
            });
            try {
                failing.get();
                throw new AssertionError();
            } catch (ExecutionException x) {
                assertEquals("expected", x.getCause().getMessage());
            }
            IVar<Void> interrupted = new IVar<>();
            IVar<Void> running = new IVar<>();
            Future<?> endless = e.submit(() -> {
                running.put(null);
                try {
                    return new Channel<Integer>().recv();
                } catch (InterruptedException x) {
                    interrupted.put(null);
                    throw x;
                }
            });
            boolean late = false;
            try {
                endless.get(1, TimeUnit.MILLISECONDS);
            } catch (TimeoutException x) {
                late = true;
            }
            assertTrue(late);
            running.get();
            assertTrue(endless.cancel(true));
            interrupted.get();
            boolean cancelled = false;
            try {
                endless.get();
            } catch (CancellationException x) {
                cancelled = true;
            }
            assertTrue(cancelled);
            e.shutdownNow();
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void all_and_any_of_several_tasks(Host host) throws Throwable {
        ExecutorService e = Executors.newFixedThreadPool(2);
        host.run(() -> {
            List<Callable<Integer>> tasks = Arrays.asList(() -> 1, () -> {
                throw new IllegalStateException();
            }, () -> {
                PicoThread.sleep(1);
                return 3;
            });
            List<Future<Integer>> all = e.invokeAll(tasks);
            assertEquals(1, all.get(0).get());
            assertEquals(3, all.get(2).get());
            assertTrue(Arrays.asList(1, 3).contains(e.invokeAny(tasks)));
            ExecutorCompletionService<Integer> c = new ExecutorCompletionService<>(e);
            c.submit(() -> 4);
            assertEquals(4, c.take().get());
            Invoke.close(e);
            assertTrue(e.isTerminated());
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void scheduled_tasks_come_when_they_are_due_and_again(Host host) throws Throwable {
        ScheduledExecutorService e = Executors.newScheduledThreadPool(2);
        host.run(() -> {
            LinkedBlockingQueue<Integer> order = new LinkedBlockingQueue<>();
            ScheduledFuture<?> late = e.schedule(() -> order.add(2), 1, TimeUnit.HOURS);
            ScheduledFuture<Integer> early = e.schedule(() -> {
                order.add(1);
                return 9;
            }, 1, TimeUnit.MILLISECONDS);
            assertEquals(9, early.get());
            assertEquals(1, order.take());
            assertFalse(late.isDone());
            assertTrue(late.getDelay(TimeUnit.MINUTES) > 0);
            assertTrue(late.cancel(false));
            AtomicInteger runs = new AtomicInteger();
            ScheduledFuture<?> periodic = e.scheduleAtFixedRate(() -> {
                try {
                    PicoThread.sleep(1);
                } catch (InterruptedException x) {
                    return;
                }
                if (runs.incrementAndGet() == 3) {
                    order.add(3);
                }
            }, 0, 1, TimeUnit.MILLISECONDS);
            assertEquals(3, order.take());
            periodic.cancel(false);
            ScheduledFuture<?> broken = e.scheduleWithFixedDelay(() -> {
                throw new IllegalStateException("expected");
            }, 0, 1, TimeUnit.MILLISECONDS);
            boolean failed = false;
            try {
                broken.get();
            } catch (ExecutionException x) {
                failed = true;
            }
            assertTrue(failed);
            e.scheduleAtFixedRate(() -> {}, 1, 1, TimeUnit.DAYS);
            ScheduledFuture<?> afterShutdown = e.schedule(() -> order.add(4), 5, TimeUnit.MILLISECONDS);
            e.shutdown();
            assertTrue(e.awaitTermination(1, TimeUnit.MINUTES));
            assertTrue(afterShutdown.isDone());
            assertEquals(4, order.take());
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void completable_futures_of_the_jdk_are_waited_for(Host host) throws Throwable {
        CompletableFuture<Integer> f = new CompletableFuture<>();
        host.run(() -> assertEquals(3, Futures.get(f)), () -> assertEquals(3, Futures.join(f)), () -> assertEquals(3, Futures.get((Future<Integer>) f)),
            () -> f.complete(3));
        host.run(() -> {
            CompletableFuture<Integer> never = new CompletableFuture<>();
            boolean late = false;
            try {
                Futures.get(never, 1, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                late = true;
            }
            assertTrue(late);
            try {
                Futures.get(never, 1, TimeUnit.MILLISECONDS);
                throw new AssertionError();
            } catch (TimeoutException e) {
                assertEquals(1, never.getNumberOfDependents(), "waits with a limit do not fill the future");
            }
            CompletableFuture<Integer> s = Futures.supplyAsync(() -> {
                PicoThread.yield();
                return 20;
            });
            CompletableFuture<Integer> t = Futures.thenComposeAsync(Futures.thenApplyAsync(s, x -> {
                PicoThread.yield();
                return x + 1;
            }), x -> CompletableFuture.completedFuture(2 * x));
            assertEquals(42, Futures.join(t));
            CompletableFuture<Integer> failed = Futures.supplyAsync(() -> {
                throw new IllegalStateException("expected");
            });
            assertEquals("expected", Futures.join(Futures.handleAsync(failed, (v, x) -> x.getCause().getMessage())));
            try {
                Futures.join(Futures.thenApplyAsync(failed, x -> x));
                throw new AssertionError();
            } catch (CompletionException e) {
                assertEquals("expected", e.getCause().getMessage());
            }
        });
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void functions_that_the_jdk_calls_may_block(Host host) throws Throwable {
        host.run(() -> {
            List<Integer> seen = new ArrayList<>();
            Callbacks.forEach(Arrays.asList(1, 2, 3), x -> {
                PicoThread.yield();
                seen.add(x);
            });
            assertEquals(Arrays.asList(1, 2, 3), seen);
            Map<Integer, Integer> m = new TreeMap<>();
            assertEquals(5, Callbacks.computeIfAbsent(m, 1, k -> {
                PicoThread.yield();
                return 5;
            }));
            assertEquals(5, Callbacks.computeIfAbsent(m, 1, k -> 6));
            Callbacks.forEach(m, (k, v) -> {
                PicoThread.yield();
                seen.add(v);
            });
            assertEquals(4, seen.size());
            assertEquals(8, Callbacks.orElseGet(Callbacks.map(Optional.of(7), x -> {
                PicoThread.yield();
                return x + 1;
            }), () -> 0));
            assertFalse(Callbacks.flatMap(Optional.of(1), x -> Optional.empty()).isPresent());
        });
    }

    /** Counts the runs of its tasks by what it makes of them. */
    private static final class Counting extends ScheduledThreadPoolExecutor {
        final AtomicInteger runs = new AtomicInteger();

        Counting() {
            super(1);
        }

        @Override
        protected <V> RunnableScheduledFuture<V> decorateTask(Runnable r, RunnableScheduledFuture<V> task) {
            return new Counted<>(this, task);
        }
    }

    private static final class Counted<V> implements RunnableScheduledFuture<V> {
        private final Counting by;
        private final RunnableScheduledFuture<V> task;

        Counted(Counting by, RunnableScheduledFuture<V> task) {
            this.by = by;
            this.task = task;
        }

        @Override
        public void run() {
            by.runs.incrementAndGet();
            task.run();
        }

        @Override
        public boolean isPeriodic() {
            return task.isPeriodic();
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return task.getDelay(unit);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
        }

        @Override
        public boolean cancel(boolean interrupt) {
            return task.cancel(interrupt);
        }

        @Override
        public boolean isCancelled() {
            return task.isCancelled();
        }

        @Override
        public boolean isDone() {
            return task.isDone();
        }

        @Override
        public V get() throws InterruptedException, ExecutionException {
            return task.get();
        }

        @Override
        public V get(long time, TimeUnit unit)
                throws InterruptedException, ExecutionException, TimeoutException {
            return task.get(time, unit);
        }
    }

    @ParameterizedTest
    @EnumSource(Host.class)
    void tasks_are_decorated_and_a_wrapped_pool_waits(Host host) throws Throwable {
        host.run(() -> {
            Counting pool = new Counting();
            ScheduledExecutorService e = Executors.unconfigurableScheduledExecutorService(pool);
            CountDownLatch twice = new CountDownLatch(2);
            ScheduledFuture<?> f = e.scheduleAtFixedRate(twice::countDown, 0, 1, TimeUnit.MILLISECONDS);
            assertEquals(Counted.class, f.getClass());
            twice.await();
            assertTrue(f.cancel(false));
            List<Future<Integer>> all = e.invokeAll(Arrays.asList(() -> 1, () -> 2));
            assertEquals(2, all.get(1).get());
            e.shutdown();
            assertTrue(e.awaitTermination(60, TimeUnit.SECONDS));
            assertTrue(pool.runs.get() >= 2);
        });
    }

    @Test
    void a_function_that_blocks_where_it_cannot_be_suspended_is_the_outcome_of_the_future() {
        try (PicoRuntime r = PicoRuntime.builder().carriers(1).build()) {
            r.run(() -> {
                CompletableFuture<Integer> f = new CompletableFuture<>();
                CompletableFuture<Integer> g = Stages.thenApply(f, x -> {
                    PicoThread.yield();
                    return x;
                });
                f.complete(1);
                Throwable e = assertThrows(CompletionException.class, g::join);
                assertEquals(PinnedError.class, e.getCause().getClass());
                // Nothing is left of the suspension that failed.
                PicoThread.yield();
            });
        }
    }
}
