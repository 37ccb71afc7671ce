package lamprey.net;

import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import lamprey.PicoRuntime;
import lamprey.instrument.RuntimeThread;

/**
 * Who waits in the selector: of each runtime with light threads, one idle carrier; for threads that have no carrier (kernel threads, and those of the
 * thread-backed back-ends), a kernel thread of this class, which waits only while such a thread does.
 */
final class Ports {
    private static final Map<PicoRuntime, Port> PORTS = new WeakHashMap<>();
    private static volatile PicoRuntime last;

    private static final AtomicInteger WAITS = new AtomicInteger();
    private static volatile Thread poller;

    private Ports() {}

    /** The calling light thread's runtime polls from now on. */
    static void attach() {
        PicoRuntime runtime = PicoRuntime.current();
        if (runtime != last) {
            synchronized (PORTS) {
                if (!PORTS.containsKey(runtime)) {
                    Port port = new Port();
                    runtime.io(port);
                    PORTS.put(runtime, port);
                }
                last = runtime;
            }
        }
    }

    /** A thread without a carrier waits. */
    static void startWait() {
        if (WAITS.getAndIncrement() == 0) {
            Thread p = poller;
            if (p == null) {
                start();
            } else {
                LockSupport.unpark(p);
            }
        }
    }

    static void endWait() {
        WAITS.decrementAndGet();
    }

    private static synchronized void start() {
        if (poller == null) {
            Thread p = new RuntimeThread(Ports::run, "lamprey-net");
            poller = p;
            p.start();
        }
    }

    private static void run() {
        Port port = new Port();
        while (true) {
            if (WAITS.get() == 0) {
                LockSupport.park(PORTS);
            } else {
                port.poll(Long.MAX_VALUE);
            }
        }
    }
}
