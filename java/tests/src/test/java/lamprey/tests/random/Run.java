package lamprey.tests.random;

import lamprey.instrument.Coroutine;
import lamprey.instrument.Delivery;
import lamprey.instrument.Execution;

/** Runs a program as a coroutine that is resumed at once whenever it has suspended. */
final class Run extends Coroutine {
    private final Runnable target;
    /** It had to go on with a {@code PinnedError}. */
    boolean pinned;

    Run(Runnable target) {
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

    @Override
    protected void suspensionFailed() {
        pinned = true;
    }

    void toEnd(World w) throws Throwable {
        Execution e = Execution.current();
        boolean suspended = resume(e, null, null);
        while (suspended) {
            Delivery.put(e, w.prim, w.real);
            suspended = resume(e, w.value, w.error);
        }
    }
}
