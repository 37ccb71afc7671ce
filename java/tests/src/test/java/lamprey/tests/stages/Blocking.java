package lamprey.tests.stages;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Functions of stages that block, and some that do not. */
public final class Blocking {
    private Blocking() {}

    static int nap(int n) {
        try {
            Thread.sleep(1);
            return n;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String outcome(Callable<Object> c) throws Exception {
        try {
            return "value " + c.call();
        } catch (CompletionException e) {
            return e.getCause().getClass().getSimpleName();
        }
    }

    /** What happens, in a light thread; with what follows each of them, which must go on undisturbed. */
    public static Map<String, String> all() throws Exception {
        Map<String, String> results = new LinkedHashMap<>();
        Throwable[] failure = new Throwable[1];
        Thread t = new Thread(() -> {
            try {
                fill(results);
            } catch (Throwable e) {
                failure[0] = e;
            }
        });
        t.start();
        t.join();
        if (failure[0] != null) {
            throw new IllegalStateException(failure[0]);
        }
        return results;
    }

    private static void fill(Map<String, String> results) throws Exception {
        CompletableFuture<Integer> one = CompletableFuture.completedFuture(1);
        CompletionStage<Integer> stage = one;
        results.put("apply", outcome(() -> one.thenApply(x -> nap(x)).join()));
        results.put("apply by reference", outcome(() -> one.thenApply(Blocking::nap).join()));
        results.put("accept", outcome(() -> one.thenAccept(x -> nap(x)).join()));
        results.put("run", outcome(() -> one.thenRun(() -> nap(1)).join()));
        results.put("combine", outcome(() -> one.thenCombine(one, (a, b) -> nap(a + b)).join()));
        results.put("compose", outcome(() -> one.thenCompose(x -> CompletableFuture.completedFuture(nap(x))).join()));
        results.put("handle", outcome(() -> one.handle((x, e) -> nap(x)).join()));
        results.put("when", outcome(() -> one.whenComplete((x, e) -> nap(x)).join()));
        results.put("stage", outcome(() -> stage.thenApply(x -> nap(x)).toCompletableFuture().join()));
        results.put("recovered", outcome(() -> one.thenApply(x -> nap(x)).exceptionally(e -> -1).join()));
        results.put("quick", outcome(() -> one.thenApply(x -> x + 1).thenCombine(one, Integer::sum).thenCompose(x -> CompletableFuture.completedFuture(x * 2)).join()));
        results.put("async", outcome(() -> one.thenApplyAsync(x -> nap(x)).join()));
        ExecutorService pool = Executors.newFixedThreadPool(1);
        results.put("async of a stage in a light pool", outcome(() -> stage.thenApplyAsync(x -> nap(x), pool).toCompletableFuture().join()));
        results.put("pool afterwards", outcome(() -> pool.submit(() -> nap(5)).get()));
        pool.shutdown();
        results.put("afterwards", "value " + nap(3));
    }
}
