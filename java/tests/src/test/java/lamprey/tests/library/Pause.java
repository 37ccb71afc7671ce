package lamprey.tests.library;

import lamprey.instrument.Coroutine;
import lamprey.instrument.Execution;
import lamprey.instrument.MethodInfo;
import lamprey.instrument.Primitive;

/** A primitive that suspends, if it is called in a coroutine. */
final class Pause {
    private static final MethodInfo INFO = MethodInfo.primitive(Pause.class, "pause", "()V");

    private Pause() {}

    @Primitive
    static void pause() {
        Execution e = Execution.current();
        if (e != null && e.running() != null) {
            e.suspend(INFO);
        }
    }

    /** Runs a task that is transformed, resumes it whenever it pauses, and counts that. */
    static int runToEnd(Runnable task) throws Throwable {
        Driver d = new Driver(task);
        int pauses = 0;
        Execution e = Execution.current();
        while (d.step(e)) {
            pauses++;
        }
        return pauses;
    }

    private static final class Driver extends Coroutine {
        private final Runnable task;

        Driver(Runnable task) {
            this.task = task;
        }

        @Override
        protected void body() {
            task.run();
        }

        @Override
        protected Object target() {
            return task;
        }

        boolean step(Execution e) throws Throwable {
            return resume(e, null, null);
        }
    }
}
