package lamprey.tests.weave.run;

import java.util.function.BiFunction;
import java.util.function.IntPredicate;
import lamprey.instrument.CarrierThread;
import lamprey.instrument.Coroutine;
import lamprey.instrument.Execution;

/** Runs a Runnable to its end; the calls of {@link Y} for which the predicate holds suspend it. Returns how many calls there were. */
public final class Driver implements BiFunction<Runnable, IntPredicate, Integer> {
    private static final class Task extends Coroutine {
        private final Runnable target;

        Task(Runnable target) {
            this.target = target;
        }

        @Override
        protected void body() {
            target.run();
        }

        @Override
        protected Object target() {
            return target;
        }

        int finish(Execution e) throws Throwable {
            int suspensions = 0;
            boolean suspended = resume(e, null, null);
            while (suspended) {
                suspensions++;
                suspended = resume(e, Y.value, Y.error);
            }
            return suspensions;
        }
    }

    @Override
    public Integer apply(Runnable target, IntPredicate suspends) {
        Y.calls = 0;
        Y.suspends = suspends;
        Throwable[] thrown = new Throwable[1];
        CarrierThread[] t = new CarrierThread[1];
        t[0] = new CarrierThread(() -> {
            try {
                new Task(target).finish(t[0].execution());
            } catch (Throwable e) {
                thrown[0] = e;
            }
        }, "carrier");
        t[0].start();
        try {
            t[0].join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        if (thrown[0] != null) {
            throw new IllegalStateException("the coroutine has failed: " + target, thrown[0]);
        }
        return Y.calls;
    }
}
