package lamprey.instrument;

import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Functions of the program that code of the JDK calls which catches every {@link Throwable}. A {@link Suspend} would end there, unseen, and become the outcome of a future. So
 * it ends here: the function gets a {@link PinnedError} when it blocks, and that is its outcome. Written by hand, as no frame is saved.
 */
public final class Callback {
    private static final String WHERE = "a method of CompletableFuture";

    private Callback() {}

    private static RuntimeException thrown(Throwable e) {
        throw Callback.<RuntimeException>sneak(Suspend.escaped(e, WHERE));
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException sneak(Throwable e) throws E {
        throw (E) e;
    }

    /** With flags the function has returned, but perhaps only to be suspended. */
    private static void returned() {
        if (Built.WITH_FLAGS) {
            Suspend.returned(WHERE);
        }
    }

    /** The function, which cannot suspend its caller. Null stays null. */
    public static <T, R> Function<T, R> of(Function<T, R> f) {
        return f == null ? null : t -> {
            R r;
            try {
                r = f.apply(t);
            } catch (Throwable e) {
                throw thrown(e);
            }
            returned();
            return r;
        };
    }

    /** As the one for a {@code Function}. */
    public static <T, U, R> BiFunction<T, U, R> of(BiFunction<T, U, R> f) {
        return f == null ? null : (t, u) -> {
            R r;
            try {
                r = f.apply(t, u);
            } catch (Throwable e) {
                throw thrown(e);
            }
            returned();
            return r;
        };
    }

    /** As the one for a {@code Function}. */
    public static <T> Consumer<T> of(Consumer<T> f) {
        return f == null ? null : t -> {
            try {
                f.accept(t);
            } catch (Throwable e) {
                throw thrown(e);
            }
            returned();
        };
    }

    /** As the one for a {@code Function}. */
    public static <T, U> BiConsumer<T, U> of(BiConsumer<T, U> f) {
        return f == null ? null : (t, u) -> {
            try {
                f.accept(t, u);
            } catch (Throwable e) {
                throw thrown(e);
            }
            returned();
        };
    }

    /** As the one for a {@code Function}. */
    public static Runnable of(Runnable f) {
        return f == null ? null : () -> {
            try {
                f.run();
            } catch (Throwable e) {
                throw thrown(e);
            }
            returned();
        };
    }
}
