package lamprey.bench.plain;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.ArrayDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;

/**
 * One kernel thread that runs what it is given, first come first served: the least that virtual threads can be scheduled by. What its own
 * thread adds takes no lock.
 */
final class OneThread implements Executor {
    private static final MethodHandle CARRIER = find();

    private final ArrayDeque<Runnable> own = new ArrayDeque<>();
    private final ConcurrentLinkedQueue<Runnable> others = new ConcurrentLinkedQueue<>();
    private final Thread thread = new Thread(this::work, "one-thread");
    private volatile boolean idle;

    OneThread() {
        thread.setDaemon(true);
        thread.start();
    }

    /** Whether the calling code runs on the thread, perhaps in a virtual one: that has this thread as its carrier. */
    private boolean isOwn() {
        return carrier() == thread;
    }

    private static Thread carrier() {
        try {
            return (Thread) CARRIER.invokeExact();
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    private static MethodHandle find() {
        try {
            Method m = Thread.class.getDeclaredMethod("currentCarrierThread");
            m.setAccessible(true);
            return MethodHandles.lookup().unreflect(m);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("no virtual threads on JDK " + System.getProperty("java.version"), e);
        }
    }

    @Override
    public void execute(Runnable task) {
        if (isOwn()) {
            own.add(task);
            return;
        }
        others.add(task);
        if (idle) {
            LockSupport.unpark(thread);
        }
    }

    private void work() {
        while (true) {
            Runnable task = own.poll();
            if (task == null) {
                task = others.poll();
            }
            if (task != null) {
                task.run();
                continue;
            }
            idle = true;
            if (others.isEmpty()) {
                LockSupport.park(this);
            }
            idle = false;
        }
    }
}
