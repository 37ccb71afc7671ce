package lamprey.instrument;

import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Functions that must not block, as code which cannot be suspended calls them and would take the {@link Suspend} for a failure of theirs. A guard turns it into a
 * {@link PinnedError} at once. Invariant: no {@code Suspend} leaves a guard. This class is not transformed.
 */
public final class Guards {
    private static final String WHERE = "a stage of a CompletableFuture (its functions must not block unless they are given to an ..Async method)";

    private Guards() {}

    /** A guard of {@code f}; null if that is null. */
    public static <T, R> Function<T, R> of(Function<? super T, ? extends R> f) {
        return f == null ? null : (t) -> {
            try {
                R result = f.apply(t);
                Suspend.returned(WHERE);
                return result;
            } catch (Throwable thrown) {
                throw Guards.<RuntimeException>sneak(Suspend.escaped(thrown, WHERE));
            }
        };
    }

    /** A guard of {@code f}; null if that is null. */
    public static <T, U, R> BiFunction<T, U, R> of(BiFunction<? super T, ? super U, ? extends R> f) {
        return f == null ? null : (t, u) -> {
            try {
                R result = f.apply(t, u);
                Suspend.returned(WHERE);
                return result;
            } catch (Throwable thrown) {
                throw Guards.<RuntimeException>sneak(Suspend.escaped(thrown, WHERE));
            }
        };
    }

    /** A guard of {@code f}; null if that is null. */
    public static <T> Consumer<T> of(Consumer<? super T> f) {
        return f == null ? null : (t) -> {
            try {
                f.accept(t);
                Suspend.returned(WHERE);
            } catch (Throwable thrown) {
                throw Guards.<RuntimeException>sneak(Suspend.escaped(thrown, WHERE));
            }
        };
    }

    /** A guard of {@code f}; null if that is null. */
    public static <T, U> BiConsumer<T, U> of(BiConsumer<? super T, ? super U> f) {
        return f == null ? null : (t, u) -> {
            try {
                f.accept(t, u);
                Suspend.returned(WHERE);
            } catch (Throwable thrown) {
                throw Guards.<RuntimeException>sneak(Suspend.escaped(thrown, WHERE));
            }
        };
    }

    /** A guard of {@code f}; null if that is null. */
    public static Runnable of(Runnable f) {
        return f == null ? null : () -> {
            try {
                f.run();
                Suspend.returned(WHERE);
            } catch (Throwable thrown) {
                throw Guards.<RuntimeException>sneak(Suspend.escaped(thrown, WHERE));
            }
        };
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> E sneak(Throwable t) throws E {
        throw (E) t;
    }
}
