package lamprey;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import lamprey.instrument.RuntimeThread;

/**
 * The end of the JVM, asked for by a light thread. {@link Runtime#exit} returns only when the JVM has ended, after the shutdown hooks; a light thread that called it would keep
 * its carrier from the threads that the hooks may wait for. So one kernel thread makes the calls, one after the other, and the light thread waits, as a rule for ever.
 */
public final class Exit {
    private static final ExecutorService KERNEL = Executors.newSingleThreadExecutor(r -> new RuntimeThread(r, "lamprey-exit"));

    private Exit() {}

    /** Completed only if the call throws: a {@code SecurityManager} may refuse it. */
    private static final class Call extends Blocker implements Runnable {
        private final PicoRuntime runtime;
        private final Runtime jvm;
        private final int status;

        Call(PicoThread thread, Runtime jvm, int status) {
            super(thread);
            this.runtime = thread.runtime;
            this.jvm = jvm;
            this.status = status;
        }

        @Override
        public void run() {
            try {
                jvm.exit(status);
            } catch (Throwable e) {
                fail(e);
            }
            runtime.external(-1);
        }

        @Override
        protected void suspended() {
            runtime.external(1);
            KERNEL.execute(this);
        }

        @Override
        protected void abandoned() {
            // The thread cannot wait, and must not go on either: it keeps its carrier.
            jvm.exit(status);
        }

        @Override
        protected WaitReason reason() {
            return WaitReason.BLOCKING_CALL;
        }
    }

    /** As {@link System#exit}. Blocks, and does not return; an interrupt does not end it. */
    public static void exit(int status) {
        exit(Runtime.getRuntime(), status);
    }

    /** As {@link Runtime#exit}. Blocks, and does not return; an interrupt does not end it. */
    public static void exit(Runtime jvm, int status) {
        Carrier c = Carrier.running();
        if (c == null) {
            jvm.exit(status);
        } else {
            Parking.awaitUninterruptibly(new Call(c.running, jvm, status));
        }
    }
}
