package lamprey.concurrent;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import lamprey.instrument.Callback;

/**
 * The methods of {@link CompletionStage} that are not {@code ..Async}, for rewritten programs. The JDK's code calls their functions, in the thread that completes the future, or
 * in the caller if it is complete: they cannot be suspended there. One that blocks gets a {@link lamprey.instrument.PinnedError}, with which the future that depends on it ends.
 * None of these methods blocks.
 */
public final class Stages {
    private Stages() {}

    /** {@code s.thenApply}. */
    public static <T, R> CompletableFuture<R> thenApply(CompletableFuture<T> s, Function<? super T, ? extends R> f) {
        return s.thenApply(Callback.of(f));
    }

    /** {@code s.thenApply}. */
    public static <T, R> CompletionStage<R> thenApply(CompletionStage<T> s, Function<? super T, ? extends R> f) {
        return s.thenApply(s instanceof CompletableFuture ? Callback.of(f) : f);
    }

    /** {@code s.thenAccept}. */
    public static <T> CompletableFuture<Void> thenAccept(CompletableFuture<T> s, Consumer<? super T> f) {
        return s.thenAccept(Callback.of(f));
    }

    /** {@code s.thenAccept}. */
    public static <T> CompletionStage<Void> thenAccept(CompletionStage<T> s, Consumer<? super T> f) {
        return s.thenAccept(s instanceof CompletableFuture ? Callback.of(f) : f);
    }

    /** {@code s.thenRun}. */
    public static <T> CompletableFuture<Void> thenRun(CompletableFuture<T> s, Runnable f) {
        return s.thenRun(Callback.of(f));
    }

    /** {@code s.thenRun}. */
    public static <T> CompletionStage<Void> thenRun(CompletionStage<T> s, Runnable f) {
        return s.thenRun(s instanceof CompletableFuture ? Callback.of(f) : f);
    }

    /** {@code s.thenCombine}. */
    public static <T, U, R> CompletableFuture<R> thenCombine(CompletableFuture<T> s, CompletionStage<? extends U> other, BiFunction<? super T, ? super U, ? extends R> f) {
        return s.thenCombine(other, Callback.of(f));
    }

    /** {@code s.thenCombine}. */
    public static <T, U, R> CompletionStage<R> thenCombine(CompletionStage<T> s, CompletionStage<? extends U> other, BiFunction<? super T, ? super U, ? extends R> f) {
        return s.thenCombine(other, s instanceof CompletableFuture ? Callback.of(f) : f);
    }

    /** {@code s.thenAcceptBoth}. */
    public static <T, U> CompletableFuture<Void> thenAcceptBoth(CompletableFuture<T> s, CompletionStage<? extends U> other, BiConsumer<? super T, ? super U> f) {
        return s.thenAcceptBoth(other, Callback.of(f));
    }

    /** {@code s.thenAcceptBoth}. */
    public static <T, U> CompletionStage<Void> thenAcceptBoth(CompletionStage<T> s, CompletionStage<? extends U> other, BiConsumer<? super T, ? super U> f) {
        return s.thenAcceptBoth(other, s instanceof CompletableFuture ? Callback.of(f) : f);
    }

    /** {@code s.runAfterBoth}. */
    public static <T> CompletableFuture<Void> runAfterBoth(CompletableFuture<T> s, CompletionStage<?> other, Runnable f) {
        return s.runAfterBoth(other, Callback.of(f));
    }

    /** {@code s.runAfterBoth}. */
    public static <T> CompletionStage<Void> runAfterBoth(CompletionStage<T> s, CompletionStage<?> other, Runnable f) {
        return s.runAfterBoth(other, s instanceof CompletableFuture ? Callback.of(f) : f);
    }

    /** {@code s.applyToEither}. */
    public static <T, R> CompletableFuture<R> applyToEither(CompletableFuture<T> s, CompletionStage<? extends T> other, Function<? super T, R> f) {
        return s.applyToEither(other, Callback.of(f));
    }

    /** {@code s.applyToEither}. */
    public static <T, R> CompletionStage<R> applyToEither(CompletionStage<T> s, CompletionStage<? extends T> other, Function<? super T, R> f) {
        return s.applyToEither(other, s instanceof CompletableFuture ? Callback.of(f) : f);
    }

    /** {@code s.acceptEither}. */
    public static <T> CompletableFuture<Void> acceptEither(CompletableFuture<T> s, CompletionStage<? extends T> other, Consumer<? super T> f) {
        return s.acceptEither(other, Callback.of(f));
    }

    /** {@code s.acceptEither}. */
    public static <T> CompletionStage<Void> acceptEither(CompletionStage<T> s, CompletionStage<? extends T> other, Consumer<? super T> f) {
        return s.acceptEither(other, s instanceof CompletableFuture ? Callback.of(f) : f);
    }

    /** {@code s.runAfterEither}. */
    public static <T> CompletableFuture<Void> runAfterEither(CompletableFuture<T> s, CompletionStage<?> other, Runnable f) {
        return s.runAfterEither(other, Callback.of(f));
    }

    /** {@code s.runAfterEither}. */
    public static <T> CompletionStage<Void> runAfterEither(CompletionStage<T> s, CompletionStage<?> other, Runnable f) {
        return s.runAfterEither(other, s instanceof CompletableFuture ? Callback.of(f) : f);
    }

    /** {@code s.thenCompose}. */
    public static <T, R> CompletableFuture<R> thenCompose(CompletableFuture<T> s, Function<? super T, ? extends CompletionStage<R>> f) {
        return s.thenCompose(Callback.of(f));
    }

    /** {@code s.thenCompose}. */
    public static <T, R> CompletionStage<R> thenCompose(CompletionStage<T> s, Function<? super T, ? extends CompletionStage<R>> f) {
        return s.thenCompose(s instanceof CompletableFuture ? Callback.of(f) : f);
    }

    /** {@code s.whenComplete}. */
    public static <T> CompletableFuture<T> whenComplete(CompletableFuture<T> s, BiConsumer<? super T, ? super Throwable> f) {
        return s.whenComplete(Callback.of(f));
    }

    /** {@code s.whenComplete}. */
    public static <T> CompletionStage<T> whenComplete(CompletionStage<T> s, BiConsumer<? super T, ? super Throwable> f) {
        return s.whenComplete(s instanceof CompletableFuture ? Callback.of(f) : f);
    }

    /** {@code s.handle}. */
    public static <T, R> CompletableFuture<R> handle(CompletableFuture<T> s, BiFunction<? super T, Throwable, ? extends R> f) {
        return s.handle(Callback.of(f));
    }

    /** {@code s.handle}. */
    public static <T, R> CompletionStage<R> handle(CompletionStage<T> s, BiFunction<? super T, Throwable, ? extends R> f) {
        return s.handle(s instanceof CompletableFuture ? Callback.of(f) : f);
    }

    /** {@code s.exceptionally}. */
    public static <T> CompletableFuture<T> exceptionally(CompletableFuture<T> s, Function<Throwable, ? extends T> f) {
        return s.exceptionally(Callback.of(f));
    }

    /** {@code s.exceptionally}. */
    public static <T> CompletionStage<T> exceptionally(CompletionStage<T> s, Function<Throwable, ? extends T> f) {
        return s.exceptionally(s instanceof CompletableFuture ? Callback.of(f) : f);
    }
}
