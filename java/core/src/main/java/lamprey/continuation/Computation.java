package lamprey.continuation;

/**
 * What a {@link Continuation} computes. It may be a lambda.
 *
 * @param <I> what is sent to the computation, first and at each resumption
 * @param <O> what it hands out at each suspension, and at its end
 */
@FunctionalInterface
public interface Computation<I, O> {
    /**
     * Called once, when the continuation is run for the first time.
     *
     * @param first the value it was run with
     * @return the last value
     * @throws Exception whatever the computation throws; {@link Continuation#run} throws it on
     */
    O run(I first) throws Exception;
}
