package lamprey.concurrent;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import lamprey.instrument.Callback;

/**
 * The methods of {@link CompletionStage} that are given an executor and are not in {@link Futures}, for rewritten programs. The JDK's code calls their functions, which cannot be
 * suspended there, and takes what suspends a thread for a failure of theirs. One that blocks in a light thread, of a pool say, gets a {@link lamprey.instrument.PinnedError}, with
 * which the future that depends on it ends. None of these methods blocks.
 */
public final class AsyncStages {
    private AsyncStages() {}

    /** {@code s.thenCombineAsync}. */
    public static <T, U, R> CompletableFuture<R> thenCombineAsync(CompletableFuture<T> s, CompletionStage<? extends U> other, BiFunction<? super T, ? super U, ? extends R> f, Executor e) {
        return s.thenCombineAsync(other, Callback.of(f), e);
    }

    /** {@code s.thenAcceptBothAsync}. */
    public static <T, U> CompletableFuture<Void> thenAcceptBothAsync(CompletableFuture<T> s, CompletionStage<? extends U> other, BiConsumer<? super T, ? super U> f, Executor e) {
        return s.thenAcceptBothAsync(other, Callback.of(f), e);
    }

    /** {@code s.runAfterBothAsync}. */
    public static <T> CompletableFuture<Void> runAfterBothAsync(CompletableFuture<T> s, CompletionStage<?> other, Runnable f, Executor e) {
        return s.runAfterBothAsync(other, Callback.of(f), e);
    }

    /** {@code s.applyToEitherAsync}. */
    public static <T, R> CompletableFuture<R> applyToEitherAsync(CompletableFuture<T> s, CompletionStage<? extends T> other, Function<? super T, R> f, Executor e) {
        return s.applyToEitherAsync(other, Callback.of(f), e);
    }

    /** {@code s.acceptEitherAsync}. */
    public static <T> CompletableFuture<Void> acceptEitherAsync(CompletableFuture<T> s, CompletionStage<? extends T> other, Consumer<? super T> f, Executor e) {
        return s.acceptEitherAsync(other, Callback.of(f), e);
    }

    /** {@code s.runAfterEitherAsync}. */
    public static <T> CompletableFuture<Void> runAfterEitherAsync(CompletableFuture<T> s, CompletionStage<?> other, Runnable f, Executor e) {
        return s.runAfterEitherAsync(other, Callback.of(f), e);
    }

    /** {@code s.whenCompleteAsync}. */
    public static <T> CompletableFuture<T> whenCompleteAsync(CompletableFuture<T> s, BiConsumer<? super T, ? super Throwable> f, Executor e) {
        return s.whenCompleteAsync(Callback.of(f), e);
    }

    /** {@code s.thenApplyAsync}. */
    public static <T, R> CompletionStage<R> thenApplyAsync(CompletionStage<T> s, Function<? super T, ? extends R> f, Executor e) {
        return s.thenApplyAsync(s instanceof CompletableFuture ? Callback.of(f) : f, e);
    }

    /** {@code s.thenAcceptAsync}. */
    public static <T> CompletionStage<Void> thenAcceptAsync(CompletionStage<T> s, Consumer<? super T> f, Executor e) {
        return s.thenAcceptAsync(s instanceof CompletableFuture ? Callback.of(f) : f, e);
    }

    /** {@code s.thenRunAsync}. */
    public static <T> CompletionStage<Void> thenRunAsync(CompletionStage<T> s, Runnable f, Executor e) {
        return s.thenRunAsync(s instanceof CompletableFuture ? Callback.of(f) : f, e);
    }

    /** {@code s.thenCombineAsync}. */
    public static <T, U, R> CompletionStage<R> thenCombineAsync(CompletionStage<T> s, CompletionStage<? extends U> other, BiFunction<? super T, ? super U, ? extends R> f, Executor e) {
        return s.thenCombineAsync(other, s instanceof CompletableFuture ? Callback.of(f) : f, e);
    }

    /** {@code s.thenAcceptBothAsync}. */
    public static <T, U> CompletionStage<Void> thenAcceptBothAsync(CompletionStage<T> s, CompletionStage<? extends U> other, BiConsumer<? super T, ? super U> f, Executor e) {
        return s.thenAcceptBothAsync(other, s instanceof CompletableFuture ? Callback.of(f) : f, e);
    }

    /** {@code s.runAfterBothAsync}. */
    public static <T> CompletionStage<Void> runAfterBothAsync(CompletionStage<T> s, CompletionStage<?> other, Runnable f, Executor e) {
        return s.runAfterBothAsync(other, s instanceof CompletableFuture ? Callback.of(f) : f, e);
    }

    /** {@code s.applyToEitherAsync}. */
    public static <T, R> CompletionStage<R> applyToEitherAsync(CompletionStage<T> s, CompletionStage<? extends T> other, Function<? super T, R> f, Executor e) {
        return s.applyToEitherAsync(other, s instanceof CompletableFuture ? Callback.of(f) : f, e);
    }

    /** {@code s.acceptEitherAsync}. */
    public static <T> CompletionStage<Void> acceptEitherAsync(CompletionStage<T> s, CompletionStage<? extends T> other, Consumer<? super T> f, Executor e) {
        return s.acceptEitherAsync(other, s instanceof CompletableFuture ? Callback.of(f) : f, e);
    }

    /** {@code s.runAfterEitherAsync}. */
    public static <T> CompletionStage<Void> runAfterEitherAsync(CompletionStage<T> s, CompletionStage<?> other, Runnable f, Executor e) {
        return s.runAfterEitherAsync(other, s instanceof CompletableFuture ? Callback.of(f) : f, e);
    }

    /** {@code s.thenComposeAsync}. */
    public static <T, R> CompletionStage<R> thenComposeAsync(CompletionStage<T> s, Function<? super T, ? extends CompletionStage<R>> f, Executor e) {
        return s.thenComposeAsync(s instanceof CompletableFuture ? Callback.of(f) : f, e);
    }

    /** {@code s.whenCompleteAsync}. */
    public static <T> CompletionStage<T> whenCompleteAsync(CompletionStage<T> s, BiConsumer<? super T, ? super Throwable> f, Executor e) {
        return s.whenCompleteAsync(s instanceof CompletableFuture ? Callback.of(f) : f, e);
    }

    /** {@code s.handleAsync}. */
    public static <T, R> CompletionStage<R> handleAsync(CompletionStage<T> s, BiFunction<? super T, Throwable, ? extends R> f, Executor e) {
        return s.handleAsync(s instanceof CompletableFuture ? Callback.of(f) : f, e);
    }
}
