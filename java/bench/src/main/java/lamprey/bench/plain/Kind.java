package lamprey.bench.plain;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.concurrent.Executor;

/** The threads of the JDK. They are found by reflection, so that the same classes run where there are no virtual ones. */
public enum Kind {
    /** One kernel thread for each. */
    PLATFORM,
    /** Virtual threads as they come. Run with {@code -Djdk.virtualThreadScheduler.parallelism=1} to compare with one carrier. */
    VIRTUAL,
    /** Virtual threads on a scheduler of one kernel thread; needs {@code --add-opens java.base/java.lang=ALL-UNNAMED}. */
    VIRTUAL_ONE;

    /** A thread of this kind. */
    public Thread unstarted(Runnable body) {
        return this == PLATFORM ? new Thread(body) : this == VIRTUAL ? Virtual.unstarted(body) : VirtualOne.unstarted(body);
    }

    /** Runs {@code body} in a thread of this kind, and waits until it has ended. */
    public void run(Runnable body) throws InterruptedException {
        Thread t = unstarted(body);
        t.start();
        t.join();
    }

    /** Handles that are constants: the compiler calls through them directly. */
    private static final class Virtual {
        private static final MethodHandle UNSTARTED = handle();
        private static final Object BUILDER = builder();

        private static MethodHandle handle() {
            try {
                Method m = Class.forName("java.lang.Thread$Builder").getMethod("unstarted", Runnable.class);
                return MethodHandles.lookup().unreflect(m).asType(MethodType.methodType(Thread.class, Object.class, Runnable.class));
            } catch (ReflectiveOperationException e) {
                throw none(e);
            }
        }

        private static Object builder() {
            try {
                return Thread.class.getMethod("ofVirtual").invoke(null);
            } catch (ReflectiveOperationException e) {
                throw none(e);
            }
        }

        static Thread unstarted(Runnable body) {
            return Kind.unstarted(BUILDER, body);
        }
    }

    private static final class VirtualOne {
        private static final Object BUILDER = builder();

        private static Object builder() {
            try {
                Constructor<?> c = Class.forName("java.lang.ThreadBuilders$VirtualThreadBuilder").getDeclaredConstructor(Executor.class);
                c.setAccessible(true);
                return c.newInstance(new OneThread());
            } catch (ReflectiveOperationException e) {
                throw none(e);
            }
        }

        static Thread unstarted(Runnable body) {
            return Kind.unstarted(BUILDER, body);
        }
    }

    private static Thread unstarted(Object builder, Runnable body) {
        try {
            return (Thread) Virtual.UNSTARTED.invokeExact(builder, body);
        } catch (Throwable t) {
            throw none(t);
        }
    }

    private static IllegalStateException none(Throwable cause) {
        return new IllegalStateException("no virtual threads on JDK " + System.getProperty("java.version"), cause);
    }
}
