package lamprey.concurrent;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import lamprey.instrument.Guards;

/**
 * Methods of {@link CompletionStage} whose functions are called by the JDK's code, in whatever thread completes the stage, for rewritten programs. That code catches all that a
 * function throws, also what suspends a thread. So each function is called through a {@link Guards guard}: one that blocks in a light thread fails at once,
 * and its stage with it. Each method does what the JDK's does otherwise.
 */
public final class Stages {
    private Stages() {}

    public static <T, R> CompletableFuture<R> thenApply(CompletableFuture<T> s, Function<? super T, ? extends R> f) {
        return s.thenApply(Guards.of(f));
    }

    public static <T> CompletableFuture<Void> thenAccept(CompletableFuture<T> s, Consumer<? super T> f) {
        return s.thenAccept(Guards.of(f));
    }

    public static <T> CompletableFuture<Void> thenRun(CompletableFuture<T> s, Runnable f) {
        return s.thenRun(Guards.of(f));
    }

    public static <T, U, R> CompletableFuture<R> thenCombine(CompletableFuture<T> s, CompletionStage<? extends U> other, BiFunction<? super T, ? super U, ? extends R> f) {
        return s.thenCombine(other, Guards.of(f));
    }

    public static <T, U, R> CompletableFuture<R> thenCombineAsync(CompletableFuture<T> s, CompletionStage<? extends U> other, BiFunction<? super T, ? super U, ? extends R> f, Executor e) {
        return s.thenCombineAsync(other, Guards.of(f), e);
    }

    public static <T, U> CompletableFuture<Void> thenAcceptBoth(CompletableFuture<T> s, CompletionStage<? extends U> other, BiConsumer<? super T, ? super U> f) {
        return s.thenAcceptBoth(other, Guards.of(f));
    }

    public static <T, U> CompletableFuture<Void> thenAcceptBothAsync(CompletableFuture<T> s, CompletionStage<? extends U> other, BiConsumer<? super T, ? super U> f, Executor e) {
        return s.thenAcceptBothAsync(other, Guards.of(f), e);
    }

    public static <T> CompletableFuture<Void> runAfterBoth(CompletableFuture<T> s, CompletionStage<?> other, Runnable f) {
        return s.runAfterBoth(other, Guards.of(f));
    }

    public static <T> CompletableFuture<Void> runAfterBothAsync(CompletableFuture<T> s, CompletionStage<?> other, Runnable f, Executor e) {
        return s.runAfterBothAsync(other, Guards.of(f), e);
    }

    public static <T, R> CompletableFuture<R> applyToEither(CompletableFuture<T> s, CompletionStage<? extends T> other, Function<? super T, R> f) {
        return s.applyToEither(other, Guards.of(f));
    }

    public static <T, R> CompletableFuture<R> applyToEitherAsync(CompletableFuture<T> s, CompletionStage<? extends T> other, Function<? super T, R> f, Executor e) {
        return s.applyToEitherAsync(other, Guards.of(f), e);
    }

    public static <T> CompletableFuture<Void> acceptEither(CompletableFuture<T> s, CompletionStage<? extends T> other, Consumer<? super T> f) {
        return s.acceptEither(other, Guards.of(f));
    }

    public static <T> CompletableFuture<Void> acceptEitherAsync(CompletableFuture<T> s, CompletionStage<? extends T> other, Consumer<? super T> f, Executor e) {
        return s.acceptEitherAsync(other, Guards.of(f), e);
    }

    public static <T> CompletableFuture<Void> runAfterEither(CompletableFuture<T> s, CompletionStage<?> other, Runnable f) {
        return s.runAfterEither(other, Guards.of(f));
    }

    public static <T> CompletableFuture<Void> runAfterEitherAsync(CompletableFuture<T> s, CompletionStage<?> other, Runnable f, Executor e) {
        return s.runAfterEitherAsync(other, Guards.of(f), e);
    }

    public static <T, R> CompletableFuture<R> thenCompose(CompletableFuture<T> s, Function<? super T, ? extends CompletionStage<R>> f) {
        return s.thenCompose(Guards.of(f));
    }

    public static <T> CompletableFuture<T> whenComplete(CompletableFuture<T> s, BiConsumer<? super T, ? super Throwable> f) {
        return s.whenComplete(Guards.of(f));
    }

    public static <T> CompletableFuture<T> whenCompleteAsync(CompletableFuture<T> s, BiConsumer<? super T, ? super Throwable> f, Executor e) {
        return s.whenCompleteAsync(Guards.of(f), e);
    }

    public static <T, R> CompletableFuture<R> handle(CompletableFuture<T> s, BiFunction<? super T, Throwable, ? extends R> f) {
        return s.handle(Guards.of(f));
    }

    public static <T> CompletableFuture<T> exceptionally(CompletableFuture<T> s, Function<Throwable, ? extends T> f) {
        return s.exceptionally(Guards.of(f));
    }

    public static <T, R> CompletionStage<R> thenApply(CompletionStage<T> s, Function<? super T, ? extends R> f) {
        return s.thenApply(Guards.of(f));
    }

    public static <T, R> CompletionStage<R> thenApplyAsync(CompletionStage<T> s, Function<? super T, ? extends R> f, Executor e) {
        return s.thenApplyAsync(Guards.of(f), e);
    }

    public static <T> CompletionStage<Void> thenAccept(CompletionStage<T> s, Consumer<? super T> f) {
        return s.thenAccept(Guards.of(f));
    }

    public static <T> CompletionStage<Void> thenAcceptAsync(CompletionStage<T> s, Consumer<? super T> f, Executor e) {
        return s.thenAcceptAsync(Guards.of(f), e);
    }

    public static <T> CompletionStage<Void> thenRun(CompletionStage<T> s, Runnable f) {
        return s.thenRun(Guards.of(f));
    }

    public static <T> CompletionStage<Void> thenRunAsync(CompletionStage<T> s, Runnable f, Executor e) {
        return s.thenRunAsync(Guards.of(f), e);
    }

    public static <T, U, R> CompletionStage<R> thenCombine(CompletionStage<T> s, CompletionStage<? extends U> other, BiFunction<? super T, ? super U, ? extends R> f) {
        return s.thenCombine(other, Guards.of(f));
    }

    public static <T, U, R> CompletionStage<R> thenCombineAsync(CompletionStage<T> s, CompletionStage<? extends U> other, BiFunction<? super T, ? super U, ? extends R> f, Executor e) {
        return s.thenCombineAsync(other, Guards.of(f), e);
    }

    public static <T, U> CompletionStage<Void> thenAcceptBoth(CompletionStage<T> s, CompletionStage<? extends U> other, BiConsumer<? super T, ? super U> f) {
        return s.thenAcceptBoth(other, Guards.of(f));
    }

    public static <T, U> CompletionStage<Void> thenAcceptBothAsync(CompletionStage<T> s, CompletionStage<? extends U> other, BiConsumer<? super T, ? super U> f, Executor e) {
        return s.thenAcceptBothAsync(other, Guards.of(f), e);
    }

    public static <T> CompletionStage<Void> runAfterBoth(CompletionStage<T> s, CompletionStage<?> other, Runnable f) {
        return s.runAfterBoth(other, Guards.of(f));
    }

    public static <T> CompletionStage<Void> runAfterBothAsync(CompletionStage<T> s, CompletionStage<?> other, Runnable f, Executor e) {
        return s.runAfterBothAsync(other, Guards.of(f), e);
    }

    public static <T, R> CompletionStage<R> applyToEither(CompletionStage<T> s, CompletionStage<? extends T> other, Function<? super T, R> f) {
        return s.applyToEither(other, Guards.of(f));
    }

    public static <T, R> CompletionStage<R> applyToEitherAsync(CompletionStage<T> s, CompletionStage<? extends T> other, Function<? super T, R> f, Executor e) {
        return s.applyToEitherAsync(other, Guards.of(f), e);
    }

    public static <T> CompletionStage<Void> acceptEither(CompletionStage<T> s, CompletionStage<? extends T> other, Consumer<? super T> f) {
        return s.acceptEither(other, Guards.of(f));
    }

    public static <T> CompletionStage<Void> acceptEitherAsync(CompletionStage<T> s, CompletionStage<? extends T> other, Consumer<? super T> f, Executor e) {
        return s.acceptEitherAsync(other, Guards.of(f), e);
    }

    public static <T> CompletionStage<Void> runAfterEither(CompletionStage<T> s, CompletionStage<?> other, Runnable f) {
        return s.runAfterEither(other, Guards.of(f));
    }

    public static <T> CompletionStage<Void> runAfterEitherAsync(CompletionStage<T> s, CompletionStage<?> other, Runnable f, Executor e) {
        return s.runAfterEitherAsync(other, Guards.of(f), e);
    }

    public static <T, R> CompletionStage<R> thenCompose(CompletionStage<T> s, Function<? super T, ? extends CompletionStage<R>> f) {
        return s.thenCompose(Guards.of(f));
    }

    public static <T, R> CompletionStage<R> thenComposeAsync(CompletionStage<T> s, Function<? super T, ? extends CompletionStage<R>> f, Executor e) {
        return s.thenComposeAsync(Guards.of(f), e);
    }

    public static <T> CompletionStage<T> whenComplete(CompletionStage<T> s, BiConsumer<? super T, ? super Throwable> f) {
        return s.whenComplete(Guards.of(f));
    }

    public static <T> CompletionStage<T> whenCompleteAsync(CompletionStage<T> s, BiConsumer<? super T, ? super Throwable> f, Executor e) {
        return s.whenCompleteAsync(Guards.of(f), e);
    }

    public static <T, R> CompletionStage<R> handle(CompletionStage<T> s, BiFunction<? super T, Throwable, ? extends R> f) {
        return s.handle(Guards.of(f));
    }

    public static <T, R> CompletionStage<R> handleAsync(CompletionStage<T> s, BiFunction<? super T, Throwable, ? extends R> f, Executor e) {
        return s.handleAsync(Guards.of(f), e);
    }

    public static <T> CompletionStage<T> exceptionally(CompletionStage<T> s, Function<Throwable, ? extends T> f) {
        return s.exceptionally(Guards.of(f));
    }
}
