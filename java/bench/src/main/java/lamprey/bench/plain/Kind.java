package lamprey.bench.plain;

import java.lang.reflect.Constructor;
import java.util.concurrent.Executor;

/** The threads of the JDK. They are found by reflection, so that the same classes run where there are no virtual ones. */
public enum Kind {
    /** One kernel thread for each. */
    PLATFORM,
    /** Virtual threads as they come. Run with {@code -Djdk.virtualThreadScheduler.parallelism=1} to compare with one carrier. */
    VIRTUAL,
    /** Virtual threads on a scheduler of one kernel thread; needs {@code --add-opens java.base/java.lang=ALL-UNNAMED}. */
    VIRTUAL_ONE;

    private final Maker maker = maker();

    private interface Maker {
        Thread unstarted(Runnable body) throws ReflectiveOperationException;
    }

    /** A thread of this kind. */
    public Thread unstarted(Runnable body) {
        try {
            return maker.unstarted(body);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(this + " threads are not to be had on JDK " + System.getProperty("java.version"), e);
        }
    }

    /** Runs {@code body} in a thread of this kind, and waits until it has ended. */
    public void run(Runnable body) throws InterruptedException {
        Thread t = unstarted(body);
        t.start();
        t.join();
    }

    private Maker maker() {
        if (name().equals("PLATFORM")) {
            return Thread::new;
        }
        if (name().equals("VIRTUAL")) {
            return body -> unstarted(Thread.class.getMethod("ofVirtual").invoke(null), body);
        }
        return new One();
    }

    /** The scheduler's kernel thread is started with the first thread. */
    private static final class One implements Maker {
        private Executor one;

        @Override
        public synchronized Thread unstarted(Runnable body) throws ReflectiveOperationException {
            one = one == null ? new OneThread() : one;
            Constructor<?> c = Class.forName("java.lang.ThreadBuilders$VirtualThreadBuilder").getDeclaredConstructor(Executor.class);
            c.setAccessible(true);
            return Kind.unstarted(c.newInstance(one), body);
        }
    }

    private static Thread unstarted(Object builder, Runnable body) throws ReflectiveOperationException {
        return (Thread) Class.forName("java.lang.Thread$Builder").getMethod("unstarted", Runnable.class).invoke(builder, body);
    }
}
