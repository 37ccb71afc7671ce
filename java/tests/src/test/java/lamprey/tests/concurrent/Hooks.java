package lamprey.tests.concurrent;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.ConcurrentModificationException;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.StampedLock;
import lamprey.tests.Jdks;

/** Parts of {@link Programs}: what the JDK calls and a program overrides, and what blocks in the JDK. All that is overridden here blocks. */
final class Hooks {
    private Hooks() {}

    private static void block() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static final class Pool extends ThreadPoolExecutor {
        final AtomicInteger before = new AtomicInteger();
        final AtomicInteger after = new AtomicInteger();
        final AtomicInteger ended = new AtomicInteger();
        final AtomicInteger rejected;

        Pool(AtomicInteger rejected) {
            super(1, 1, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(1), r -> {
                block();
                return new Thread(r);
            }, (r, pool) -> {
                block();
                rejected.incrementAndGet();
            });
            this.rejected = rejected;
        }

        @Override
        protected void beforeExecute(Thread t, Runnable r) {
            block();
            before.incrementAndGet();
        }

        @Override
        protected void afterExecute(Runnable r, Throwable t) {
            block();
            after.incrementAndGet();
        }

        @Override
        protected void terminated() {
            block();
            ended.incrementAndGet();
        }
    }

    static Object hooks() throws Exception {
        Pool pool = new Pool(new AtomicInteger());
        CountDownLatch latch = new CountDownLatch(1);
        Future<?> f = pool.submit(() -> {
            latch.await();
            return null;
        });
        pool.execute(() -> {});
        pool.execute(() -> {});
        latch.countDown();
        f.get();
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        AtomicInteger done = new AtomicInteger();
        FutureTask<String> task = new FutureTask<String>(() -> "v") {
            @Override
            protected void done() {
                block();
                done.incrementAndGet();
            }
        };
        new Thread(task).start();
        String value = task.get();
        FutureTask<String> cancelled = new FutureTask<String>(() -> "v") {
            @Override
            protected void done() {
                block();
                throw new IllegalStateException("done");
            }
        };
        String thrown = "";
        try {
            cancelled.cancel(true);
        } catch (IllegalStateException e) {
            thrown = e.getMessage();
        }
        while (done.get() == 0) {
            Thread.yield();
        }
        return pool.before + " " + pool.after + " " + pool.ended + " " + pool.rejected + value + done + thrown + cancelled.isCancelled() + cancelled.isDone();
    }

    private static final class Mine extends CompletableFuture<String> {
        @Override
        public String get() {
            block();
            return "mine";
        }

        @Override
        public String join() {
            return "mine";
        }
    }

    static Object overridden() throws Exception {
        CompletableFuture<String> c = new Mine();
        Future<String> f = c;
        class Plain extends CompletableFuture<Integer> {}
        CompletableFuture<Integer> plain = new Plain();
        new Thread(() -> {
            block();
            plain.complete(3);
        }).start();
        CompletableFuture<Integer> next = plain.thenApply(x -> x + 1).thenCombine(plain, (x, y) -> x * y).whenComplete((x, e) -> {});
        return c.get() + c.join() + f.get() + plain.join() + next.get();
    }

    static Object stamped() throws Exception {
        StampedLock lock = new StampedLock();
        long stamp = lock.writeLock();
        List<Thread> readers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Thread t = new Thread(() -> {
                Lock r = lock.asReadLock();
                r.lock();
                r.unlock();
                lock.unlockRead(lock.readLock());
            });
            t.start();
            readers.add(t);
        }
        boolean[] interrupted = new boolean[2];
        Thread t = new Thread(() -> {
            try {
                lock.writeLockInterruptibly();
            } catch (InterruptedException e) {
                interrupted[0] = true;
                interrupted[1] = Thread.currentThread().isInterrupted();
            }
        });
        t.start();
        block();
        t.interrupt();
        t.join();
        boolean got = lock.tryReadLock(1, TimeUnit.MILLISECONDS) != 0;
        lock.unlockWrite(stamp);
        for (Thread r : readers) {
            r.join();
        }
        return got + " " + Arrays.toString(interrupted) + lock.isReadLocked();
    }

    private static final class Fib extends RecursiveTask<Integer> {
        private static final long serialVersionUID = 1;
        private final int n;

        Fib(int n) {
            this.n = n;
        }

        @Override
        protected Integer compute() {
            if (n < 2) {
                return n;
            }
            Fib a = new Fib(n - 1);
            a.fork();
            return new Fib(n - 2).compute() + a.join();
        }
    }

    static Object kernel() throws Exception {
        Fib f = new Fib(10);
        f.fork();
        int sum = f.join() + new Fib(9).invoke() + ForkJoinPool.commonPool().invoke(new Fib(8)) + ForkJoinPool.commonPool().submit(() -> 5).get();
        Process p = new ProcessBuilder(System.getProperty("java.home") + "/bin/java", "-version").start();
        return sum + " " + p.waitFor() + p.waitFor(1, TimeUnit.SECONDS);
    }

    static Object changes() throws Exception {
        Map<String, Integer> m = new TreeMap<>();
        m.put("a", 1);
        m.merge("a", 2, (x, y) -> {
            block();
            return x + y;
        });
        m.merge("b", 2, (x, y) -> 9);
        m.compute("c", (k, v) -> {
            block();
            return 5;
        });
        m.computeIfPresent("b", (k, v) -> {
            block();
            return null;
        });
        m.replaceAll((k, v) -> {
            block();
            return v * 2;
        });
        List<Integer> l = new ArrayList<>(Arrays.asList(1, 2, 3, 4));
        boolean removed = l.removeIf(x -> {
            block();
            return x % 2 == 0;
        });
        l.replaceAll(x -> {
            block();
            return x + 1;
        });
        List<Integer> linked = new LinkedList<>(l);
        linked.removeIf(x -> {
            block();
            return x == 2;
        });
        Iterable<Integer> own = () -> {
            block();
            return Arrays.asList(7, 8).iterator();
        };
        own.forEach(x -> {
            block();
            linked.add(x);
        });
        return m + " " + removed + l + linked + Optional.of(3).filter(x -> {
            block();
            return x == 4;
        }).isPresent();
    }

    private static String thrownBy(Runnable r) {
        try {
            r.run();
            return "nothing ";
        } catch (ConcurrentModificationException e) {
            return "modified ";
        }
    }

    static Object modified() {
        List<Integer> l = new ArrayList<>(Arrays.asList(1, 2, 3));
        Map<Integer, Integer> m = new HashMap<>();
        m.put(1, 1);
        Iterator<Integer> none = l.iterator();
        return thrownBy(() -> l.forEach(x -> {
            if (x == 2) {
                l.remove(0);
            }
        })) + thrownBy(() -> m.forEach((k, v) -> m.put(5, 5))) + thrownBy(() -> m.keySet().forEach(k -> m.put(k + 10, 0)))
            + thrownBy(() -> m.forEach((k, v) -> m.put(k, 7))) + (Jdks.current() < 9 ? "JDK 8 lets it pass " : thrownBy(() -> m.merge(1, 2, (x, y) -> m.put(-1, -1))))
            + thrownBy(() -> l.removeIf(x -> l.add(9))) + thrownBy(none::next);
    }

    static Object ends() throws Exception {
        for (int i = 0; i < 200; i++) {
            Thread t = new Thread(Thread::yield);
            t.start();
            synchronized (t) {
                while (t.isAlive()) {
                    if (i % 3 == 0) {
                        Thread.yield();
                    }
                    t.wait();
                }
            }
        }
        Thread t = new Thread(Hooks::block);
        t.start();
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            Thread w = new Thread(() -> {
                synchronized (t) {
                    while (t.isAlive()) {
                        try {
                            t.wait();
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                    }
                }
            });
            w.start();
            all.add(w);
        }
        for (Thread w : all) {
            w.join();
        }
        // An object like any other, once it has ended.
        boolean[] told = new boolean[1];
        Thread teller = new Thread(() -> {
            block();
            synchronized (t) {
                told[0] = true;
                t.notify();
            }
        });
        teller.start();
        synchronized (t) {
            while (!told[0]) {
                t.wait();
            }
        }
        return "ended";
    }

    static Object messages() {
        StringBuilder all = new StringBuilder();
        Thread.currentThread().interrupt();
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            all.append(e.getMessage());
        }
        Thread me = Thread.currentThread();
        new Thread(me::interrupt).start();
        try {
            Thread.sleep(100_000);
        } catch (InterruptedException e) {
            all.append(e.getMessage());
        }
        return all.append(Thread.getAllStackTraces().containsKey(me)).append(new Thread(() -> {}).getName().matches("Thread-\\d+"));
    }
}
