package lamprey.tests.random;

import lamprey.instrument.CarrierThread;

/** A kernel thread that runs generated programs. */
final class Worker extends CarrierThread {
    final World world = new World();

    Worker(Runnable target, String name) {
        super(target, name);
        setDaemon(true);
    }
}
