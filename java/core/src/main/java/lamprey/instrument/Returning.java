package lamprey.instrument;

/**
 * The type of the last parameter, always null, of the constructors that the transformer adds: they return when they suspend, instead of throwing. The
 * constructors of subclasses call them in {@code super(..)}, from which the JVM lets nobody catch anything, and look at {@link Execution#unwinding()}.
 */
public final class Returning {
    private Returning() {}
}
