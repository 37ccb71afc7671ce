package lamprey.tests.pinned;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.Stream;
import lamprey.instrument.PinnedError;
import lamprey.tests.pinned.foreign.Foreign;

/**
 * A plain program whose threads block where they cannot be suspended: below a method that is not transformed. Each case must get a
 * {@code PinnedError} from the blocking call, and be able to go on. The test transforms this class and calls {@link #run}.
 */
public final class Cases {
    /** A case. */
    interface Case {
        void run() throws Throwable;
    }

    private static final Map<String, Case> ALL = new LinkedHashMap<>();
    /** Of cases where a method of the JDK calls back: how many blocking calls there are, if that method has a form that can be suspended. */
    private static final Map<String, Integer> CALLBACKS = new LinkedHashMap<>();

    static {
        ALL.put("wrapper_whose_method_has_the_same_name", () -> Foreign.wrapping(Cases::block).run());
        ALL.put("wrapper_of_a_wrapper", () -> Foreign.wrapping(Foreign.wrapping((Runnable) Cases::block)).run());
        ALL.put("inherited_method_of_a_wrapper", () -> new Inheriting(Cases::block).run());
        ALL.put("super_call_of_a_wrapper", () -> new Overriding(Cases::block).run());
        ALL.put("callable_wrapper", () -> Foreign.wrapping((Callable<Integer>) Cases::blockAndCount).call());
        ALL.put("static_method", () -> Foreign.call(Cases::block));
        callback("reference_to_for_each", 2, () -> {
            Consumer<Consumer<Integer>> each = Arrays.asList(1, 2)::forEach;
            each.accept(x -> block());
        });
        ALL.put("reference_to_a_wrapper", () -> {
            Runnable r = Foreign.wrapping((Runnable) Cases::block)::run;
            r.run();
        });
        ALL.put("reference_to_foreign_code", () -> {
            Consumer<Runnable> c = Foreign::call;
            c.accept(Cases::block);
        });
        callback("list_for_each", 2, () -> Arrays.asList(1, 2).forEach(x -> block()));
        callback("map_compute_if_absent", 1, Cases::computeIfAbsent);
        callback("comparator_in_sort", 1, Cases::sort);
        callback("comparator_of_a_tree", 1, () -> new TreeMap<Integer, Integer>((a, b) -> blockAndCount()).put(1, 1));
        callback("stream", 2, () -> Stream.of(1, 2).map(x -> blockAndCount()).forEach(x -> { }));
        callback("to_string_in_format", 1, () -> String.format("%s", new Named()));
        callback("to_string_of_a_list", 1, () -> Collections.singletonList(new Named()).toString());
        callback("to_string_of_an_atomic", 1, Cases::textOfAnAtomic);
        callback("equals_in_a_list", 1, () -> Arrays.asList(new Named()).indexOf(new Named()));
        callback("method_handle", 1, () -> handle().invoke());
        ALL.put("lambda_that_calls_foreign_code", () -> ((Runnable) () -> Foreign.call(Cases::block)).run());
        ALL.put("recursion_through_foreign_code", () -> recurse(3));
        ALL.put("other_exception_thrown_instead", Cases::replaced);
        ALL.put("catch_all_in_foreign_code", Cases::swallowed);
        ALL.put("catch_all_in_own_code", Cases::caughtHere);
        ALL.put("finally_that_blocks_in_foreign_code", () -> Foreign.withFinally(Cases::block, Cases::block));
        ALL.put("finally_in_own_code", Cases::finallyHere);
        ALL.put("lock_held", Cases::locked);
        ALL.put("wait_in_foreign_code", Cases::waiting);
        ALL.put("static_initialiser", () -> Foreign.call(() -> Initialised.touch()));
    }

    private static int blocked;

    private Cases() {}

    private static void callback(String name, int calls, Case c) {
        ALL.put(name, c);
        CALLBACKS.put(name, calls);
    }

    static List<String> names() {
        return new ArrayList<>(ALL.keySet());
    }

    /** Runs a case in a thread of its own; returns the error's message, "suspended", or what was wrong. */
    public static String run(String name) throws InterruptedException {
        String[] result = {"the thread did not end"};
        Thread t = new Thread(() -> result[0] = outcome(ALL.get(name), CALLBACKS.getOrDefault(name, -1)));
        t.start();
        t.join();
        return result[0];
    }

    private static String outcome(Case c, int calls) {
        int before = blocked;
        String message;
        try {
            c.run();
            return blocked == before + calls ? "suspended" : "no error, and " + (blocked - before) + " blocking calls ended";
        } catch (PinnedError e) {
            message = e.getMessage();
        } catch (Throwable t) {
            return "another error: " + t;
        }
        // The thread blocks as ever, and what could not be suspended has not gone on unseen.
        block();
        return blocked == before + 1 ? message : "went on behind the blocking call: " + (blocked - before);
    }

    /** The case has ended with an error by which the thread noticed later: the next blocking call got it. */
    public static String uncaught() throws InterruptedException {
        String[] result = {"nothing was thrown"};
        Thread t = new Thread(() -> Foreign.swallow(Cases::block));
        t.setUncaughtExceptionHandler((thread, e) -> result[0] = e instanceof PinnedError ? e.getMessage() : "another error: " + e);
        t.start();
        t.join();
        return result[0];
    }

    static void block() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        blocked++;
    }

    static int blockAndCount() {
        block();
        return 1;
    }

    private static final class Named {
        @Override
        public String toString() {
            block();
            return "named";
        }

        @Override
        public boolean equals(Object other) {
            block();
            return false;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    private static final class Inheriting extends Foreign.Wrapper {
        Inheriting(Runnable inner) {
            super(inner);
        }
    }

    private static final class Overriding extends Foreign.Wrapper {
        Overriding(Runnable inner) {
            super(inner);
        }

        @Override
        public void run() {
            super.run();
        }
    }

    private static final class Initialised {
        static final Runnable TASK = Cases::block;

        static {
            Foreign.call(TASK);
        }

        static void touch() {}
    }

    private static MethodHandle handle() throws ReflectiveOperationException {
        return MethodHandles.lookup().findStatic(Cases.class, "block", MethodType.methodType(void.class));
    }

    private static void recurse(int depth) {
        if (depth == 0) {
            block();
        } else {
            Foreign.call(() -> recurse(depth - 1));
        }
    }

    /** The map is as it was, or has what was computed. */
    /** The catch must not get the suspension itself. */
    private static void textOfAnAtomic() throws Throwable {
        java.util.concurrent.atomic.AtomicReference<Object> r = new java.util.concurrent.atomic.AtomicReference<>(new Named());
        try {
            r.toString();
        } catch (Throwable e) {
            throw e instanceof PinnedError ? e : new IllegalStateException("caught " + e.getClass());
        }
    }

    private static void computeIfAbsent() {
        Map<String, Integer> map = new HashMap<>();
        try {
            map.computeIfAbsent("a", k -> blockAndCount());
        } finally {
            check(map.isEmpty() || map.get("a") == 1);
        }
    }

    /** The list has what it had. */
    private static void sort() {
        List<Integer> list = new ArrayList<>(Arrays.asList(2, 1));
        try {
            list.sort((a, b) -> blockAndCount());
        } finally {
            check(list.contains(1) && list.contains(2));
        }
    }

    private static void check(boolean holds) {
        if (!holds) {
            throw new IllegalStateException("state was lost");
        }
    }

    /** Foreign code throws its own exception while the thread is being suspended: that one is seen, and the next blocking call is refused. */
    private static void replaced() {
        try {
            Foreign.replace(Cases::block);
        } catch (IllegalStateException e) {
            block();
        }
    }

    /** Foreign code hides that the thread is being suspended: the next blocking call is refused. */
    private static void swallowed() {
        Foreign.swallow(Cases::block);
        block();
    }

    private static void caughtHere() {
        try {
            Foreign.call(Cases::block);
        } catch (Throwable t) {
            check(t instanceof PinnedError);
            throw t;
        }
    }

    private static void finallyHere() {
        boolean[] ran = {false};
        try {
            try {
                Foreign.call(Cases::block);
            } finally {
                ran[0] = true;
            }
        } finally {
            check(ran[0]);
        }
    }

    /** Another thread gets the lock afterwards. */
    private static void locked() throws InterruptedException {
        Object lock = new Object();
        try {
            synchronized (lock) {
                Foreign.call(Cases::block);
            }
        } finally {
            otherThreadLocks(lock);
        }
    }

    private static void otherThreadLocks(Object lock) throws InterruptedException {
        boolean[] got = {false};
        Thread t = new Thread(() -> {
            synchronized (lock) {
                got[0] = true;
            }
        });
        t.start();
        t.join();
        check(got[0]);
    }

    /** The one who was refused takes no notification from the one who really waits. */
    private static void waiting() throws InterruptedException {
        Object lock = new Object();
        boolean[] state = {false, false};
        try {
            synchronized (lock) {
                Foreign.call(() -> waitFor(lock));
            }
        } finally {
            Thread waiter = new Thread(() -> {
                synchronized (lock) {
                    state[0] = true;
                    waitFor(lock);
                    state[1] = true;
                }
            });
            waiter.start();
            boolean waits = false;
            while (!waits) {
                Thread.yield();
                synchronized (lock) {
                    waits = state[0];
                    if (waits) {
                        lock.notify();
                    }
                }
            }
            waiter.join();
            check(state[1]);
        }
    }

    private static void waitFor(Object lock) {
        try {
            lock.wait();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
