package lamprey.concurrent;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import lamprey.Blocker;
import lamprey.Parking;
import lamprey.PicoRuntime;
import lamprey.PicoThread;
import lamprey.WaitReason;

/**
 * {@link CompletableFuture}, for rewritten programs. The objects are the JDK's, so those that other libraries make are waited for in the same way: a light thread is
 * suspended, a kernel thread parked. What runs asynchronously runs in light threads of its own, by code that can be suspended; functions that
 * are not given to an {@code ..Async} method are called by the JDK's code, and must not block.
 */
public final class Futures {
    private static final Executor LIGHT = task -> {
        PicoThread t = new PicoThread(task);
        t.setDaemon(true);
        t.start();
    };

    private Futures() {}

    private static final class Wait extends Blocker implements BiConsumer<Object, Throwable> {
        @Override
        public void accept(Object value, Throwable failure) {
            deliver(null);
        }

        @Override
        protected WaitReason reason() {
            return WaitReason.FUTURE;
        }
    }

    /**
     * The lists of futures that were waited for with a time limit. A callback cannot be taken out of a future again, so these waits share one: a program that asks a future
     * again and again would fill it. Under its own monitor.
     */
    private static final Map<CompletableFuture<?>, WaitList> TIMED = new WeakHashMap<>();

    private static WaitList timed(CompletableFuture<?> f) {
        WaitList list;
        synchronized (TIMED) {
            list = TIMED.get(f);
            if (list != null) {
                return list;
            }
            list = new WaitList(WaitReason.FUTURE);
            TIMED.put(f, list);
        }
        WaitList made = list;
        f.whenComplete((v, t) -> made.signalAll());
        return made;
    }

    /** Which methods that wait a class of the program has overridden: it keeps them. Of {@code get()} bit 1, {@code get(time, unit)} 2, {@code join()} 4. */
    private static final ClassValue<Integer> OVERRIDDEN = new ClassValue<Integer>() {
        @Override
        protected Integer computeValue(Class<?> type) {
            int bits = 0;
            for (Class<?> c = type; c != CompletableFuture.class; c = c.getSuperclass()) {
                for (Method m : c.getDeclaredMethods()) {
                    int n = m.getParameterTypes().length;
                    if (m.getName().equals("get")) {
                        bits |= n == 0 ? GET : n == 2 ? TIMED_GET : 0;
                    } else if (m.getName().equals("join") && n == 0) {
                        bits |= JOIN;
                    }
                }
            }
            return bits;
        }
    };
    private static final int GET = 1;
    private static final int TIMED_GET = 2;
    private static final int JOIN = 4;

    /** Whether the JDK's own method is to be replaced. */
    private static boolean waits(CompletableFuture<?> f, int method) {
        return !f.isDone() && (f.getClass() == CompletableFuture.class || (OVERRIDDEN.get(f.getClass()) & method) == 0);
    }

    /** {@code f.get()}. Blocks. */
    public static <T> T get(CompletableFuture<T> f) throws InterruptedException, ExecutionException {
        if (waits(f, GET)) {
            Wait w = new Wait();
            f.whenComplete(w);
            Parking.await(w);
        }
        return f.get();
    }

    /** {@code f.get(time, unit)}. Blocks. */
    public static <T> T get(CompletableFuture<T> f, long time, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        long deadline = PicoRuntime.moment(unit.toNanos(time));
        while (waits(f, TIMED_GET)) {
            long left = deadline - PicoRuntime.nanoTime();
            if (left <= 0) {
                throw new TimeoutException();
            }
            WaitList list = timed(f);
            WaitList.Ticket t = list.enter();
            if (f.isDone()) {
                list.leave(t);
            } else {
                list.await(t, left);
            }
        }
        return f.get();
    }

    /** {@code f.join()}. Blocks; an interrupt stays set. */
    public static <T> T join(CompletableFuture<T> f) {
        if (waits(f, JOIN)) {
            Wait w = new Wait();
            f.whenComplete(w);
            Parking.awaitUninterruptibly(w);
        }
        return f.join();
    }

    /** {@code f.get()} of any future. Blocks. */
    public static <T> T get(Future<T> f) throws InterruptedException, ExecutionException {
        if (f instanceof CompletableFuture) {
            return get((CompletableFuture<T>) f);
        }
        return f instanceof ForkJoinTask ? Kernel.get((ForkJoinTask<T>) f)
            : Kernel.isOfJdk(f) && !f.isDone() ? Kernel.<T>interruptible(f::get) : f.get();
    }

    /** {@code f.get(time, unit)} of any future. Blocks. */
    public static <T> T get(Future<T> f, long time, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        if (f instanceof CompletableFuture) {
            return get((CompletableFuture<T>) f, time, unit);
        }
        return f instanceof ForkJoinTask ? Kernel.get((ForkJoinTask<T>) f, time, unit)
            : Kernel.isOfJdk(f) && !f.isDone() ? Kernel.<T>interruptible(() -> f.get(time, unit)) : f.get(time, unit);
    }

    // ---- Asynchronous functions.

    /** One function that completes a future. Its class is transformed: the function may block. */
    private abstract static class Task<R> implements Runnable {
        final CompletableFuture<R> result = new CompletableFuture<>();

        abstract R compute() throws Exception;

        @Override
        public void run() {
            if (result.isDone()) {
                return;
            }
            try {
                result.complete(compute());
            } catch (Throwable t) {
                result.completeExceptionally(wrapped(t));
            }
        }

        CompletableFuture<R> start(Executor e) {
            e.execute(this);
            return result;
        }

        CompletableFuture<R> startAfter(CompletableFuture<?> f, Executor e) {
            if (e == null) {
                throw new NullPointerException("the executor is null");
            }
            f.whenComplete((v, t) -> {
                try {
                    e.execute(this);
                } catch (Throwable rejected) {
                    result.completeExceptionally(wrapped(rejected));
                }
            });
            return result;
        }
    }

    private static Throwable wrapped(Throwable t) {
        return t instanceof CompletionException ? t : new CompletionException(t);
    }

    private static <T> T checked(T function) {
        if (function == null) {
            throw new NullPointerException("the function is null");
        }
        return function;
    }

    /** {@code CompletableFuture.supplyAsync}. */
    public static <T> CompletableFuture<T> supplyAsync(Supplier<T> s) {
        return supplyAsync(s, LIGHT);
    }

    /** {@code CompletableFuture.supplyAsync}. */
    public static <T> CompletableFuture<T> supplyAsync(Supplier<T> s, Executor e) {
        checked(s);
        return new Task<T>() {
            @Override
            T compute() {
                return s.get();
            }
        }.start(e);
    }

    /** {@code CompletableFuture.runAsync}. */
    public static CompletableFuture<Void> runAsync(Runnable task) {
        return runAsync(task, LIGHT);
    }

    /** {@code CompletableFuture.runAsync}. */
    public static CompletableFuture<Void> runAsync(Runnable task, Executor e) {
        checked(task);
        return new Task<Void>() {
            @Override
            Void compute() {
                task.run();
                return null;
            }
        }.start(e);
    }

    /** {@code f.thenApplyAsync}. */
    public static <T, R> CompletableFuture<R> thenApplyAsync(CompletableFuture<T> f, Function<? super T, ? extends R> fn) {
        return thenApplyAsync(f, fn, LIGHT);
    }

    /** {@code f.thenApplyAsync}. */
    public static <T, R> CompletableFuture<R> thenApplyAsync(CompletableFuture<T> f, Function<? super T, ? extends R> fn, Executor e) {
        checked(fn);
        return new Task<R>() {
            @Override
            R compute() {
                return fn.apply(f.join());
            }
        }.startAfter(f, e);
    }

    /** {@code f.thenAcceptAsync}. */
    public static <T> CompletableFuture<Void> thenAcceptAsync(CompletableFuture<T> f, Consumer<? super T> fn) {
        return thenAcceptAsync(f, fn, LIGHT);
    }

    /** {@code f.thenAcceptAsync}. */
    public static <T> CompletableFuture<Void> thenAcceptAsync(CompletableFuture<T> f, Consumer<? super T> fn, Executor e) {
        checked(fn);
        return new Task<Void>() {
            @Override
            Void compute() {
                fn.accept(f.join());
                return null;
            }
        }.startAfter(f, e);
    }

    /** {@code f.thenRunAsync}. */
    public static <T> CompletableFuture<Void> thenRunAsync(CompletableFuture<T> f, Runnable task) {
        return thenRunAsync(f, task, LIGHT);
    }

    /** {@code f.thenRunAsync}. */
    public static <T> CompletableFuture<Void> thenRunAsync(CompletableFuture<T> f, Runnable task, Executor e) {
        checked(task);
        return new Task<Void>() {
            @Override
            Void compute() {
                f.join();
                task.run();
                return null;
            }
        }.startAfter(f, e);
    }

    /** {@code f.handleAsync}. */
    public static <T, R> CompletableFuture<R> handleAsync(CompletableFuture<T> f, BiFunction<? super T, Throwable, ? extends R> fn) {
        return handleAsync(f, fn, LIGHT);
    }

    /** {@code f.handleAsync}. */
    public static <T, R> CompletableFuture<R> handleAsync(CompletableFuture<T> f, BiFunction<? super T, Throwable, ? extends R> fn, Executor e) {
        checked(fn);
        return new Task<R>() {
            @Override
            R compute() {
                Outcome<T> o = new Outcome<>(f);
                return fn.apply(o.value, o.failure);
            }
        }.startAfter(f, e);
    }

    /** {@code f.thenComposeAsync}. */
    public static <T, R> CompletableFuture<R> thenComposeAsync(CompletableFuture<T> f, Function<? super T, ? extends CompletionStage<R>> fn) {
        return thenComposeAsync(f, fn, LIGHT);
    }

    /** {@code f.thenComposeAsync}. */
    public static <T, R> CompletableFuture<R> thenComposeAsync(CompletableFuture<T> f, Function<? super T, ? extends CompletionStage<R>> fn, Executor e) {
        return thenApplyAsync(f, fn, e).thenCompose(stage -> stage);
    }

    /** What a future that is complete has ended with. */
    private static final class Outcome<T> {
        T value;
        Throwable failure;

        Outcome(CompletableFuture<T> f) {
            f.whenComplete((v, t) -> {
                value = v;
                failure = t;
            });
        }
    }
}
