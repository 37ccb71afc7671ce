package lamprey;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.TimeUnit;
import lamprey.instrument.MethodInfo;
import lamprey.instrument.Primitive;

/** Kernel and virtual threads: the {@link PicoThread} that stands for each, and what only newer JDKs have. */
final class KernelThreads {
    /** What stands for each thread that is not one of {@link Backed}. */
    private static final ThreadLocal<PicoThread> CURRENT = new ThreadLocal<>();
    private static final MethodHandle ON_SPIN_WAIT =
        find(Thread.class, "onSpinWait", MethodType.methodType(void.class));
    private static final MethodHandle VIRTUAL = findVirtual();

    private KernelThreads() {}

    /** A kernel thread that runs a thread of a runtime whose back-end is {@link Backend#PLATFORM}. */
    private static final class Backed extends Thread {
        final PicoThread pico;

        Backed(Runnable body, PicoThread pico) {
            super(null, body, pico.getName(), pico.stackSize());
            this.pico = pico;
            setContextClassLoader(pico.getContextClassLoader());
        }
    }

    private static MethodHandle find(Class<?> owner, String name, MethodType type) {
        try {
            return MethodHandles.publicLookup().findStatic(owner, name, type);
        } catch (NoSuchMethodException | IllegalAccessException e) {
            return null;
        }
    }

    /** {@code Thread.ofVirtual().unstarted(Runnable)}; null if the JDK has none. */
    private static MethodHandle findVirtual() {
        try {
            MethodHandles.Lookup l = MethodHandles.publicLookup();
            Class<?> of = Class.forName("java.lang.Thread$Builder$OfVirtual");
            MethodHandle make = l.findStatic(Thread.class, "ofVirtual", MethodType.methodType(of));
            MethodHandle unstarted = l.findVirtual(of, "unstarted", MethodType.methodType(Thread.class, Runnable.class));
            return MethodHandles.foldArguments(unstarted, make);
        } catch (ClassNotFoundException | NoSuchMethodException | IllegalAccessException e) {
            return null;
        }
    }

    static boolean haveVirtual() {
        return VIRTUAL != null;
    }

    static void onSpinWait() {
        if (ON_SPIN_WAIT != null) {
            try {
                ON_SPIN_WAIT.invokeExact();
            } catch (Throwable e) {
                throw Parking.<RuntimeException>sneak(e);
            }
        }
    }

    /** What stands for the calling thread, which does not run a light thread. */
    static PicoThread current() {
        Thread k = Thread.currentThread();
        if (k instanceof Backed) {
            return ((Backed) k).pico;
        }
        PicoThread t = CURRENT.get();
        if (t == null) {
            t = new PicoThread(k);
            CURRENT.set(t);
        }
        return t;
    }

    /** A new kernel thread, not started, that is {@code t} to the program and runs {@code body}. */
    static Thread unstarted(PicoThread t, Runnable body) {
        return new Backed(body, t);
    }

    /** Runs {@code body} as {@code t} on a new kernel thread. */
    static void startPlatform(PicoThread t, Runnable body) {
        Thread k = new Backed(body, t);
        k.setDaemon(t.daemon);
        k.setPriority(t.priority);
        t.details().kernel = k;
        k.start();
    }

    /** Runs {@code body} as {@code t} on a new virtual thread of the JVM. */
    static void startVirtual(PicoThread t, Runnable body) {
        Runnable whole = () -> {
            CURRENT.set(t);
            body.run();
        };
        try {
            Thread k = (Thread) VIRTUAL.invokeExact(whole);
            k.setContextClassLoader(t.getContextClassLoader());
            t.details().kernel = k;
            k.start();
        } catch (Throwable e) {
            throw Parking.<RuntimeException>sneak(e);
        }
    }

    /** Waits for the end of a kernel thread that this library has not started. */
    @Primitive
    static void join(Thread k, long nanos, Carrier caller, MethodInfo primitive) throws InterruptedException {
        if (!k.isAlive()) {
            return;
        }
        if (caller != null) {
            // Nobody tells a light thread of the end of a kernel thread: another kernel thread waits for it.
            LightThread.Joiner j = new LightThread.Joiner(caller.running, null);
            Blocking.execute(() -> {
                try {
                    k.join();
                } catch (InterruptedException e) {
                    j.fail(e);
                }
                j.deliver(null);
            });
            caller.await(j, nanos, true, primitive);
        } else if (nanos == Long.MAX_VALUE) {
            k.join();
        } else {
            TimeUnit.NANOSECONDS.timedJoin(k, nanos);
        }
    }
}
