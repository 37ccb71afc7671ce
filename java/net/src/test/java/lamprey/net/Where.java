package lamprey.net;

import java.io.IOException;
import lamprey.PicoRuntime;
import lamprey.PicoThread;

/** Where the threads of a test run: on one carrier, on two, on kernel threads. Each test is to pass in all. */
enum Where {
    ONE_CARRIER,
    TWO_CARRIERS,
    KERNEL_THREADS;

    /** A computation with a result; may block. */
    interface Body<T> {
        T run() throws Exception;
    }

    /** What may fail. */
    interface Action {
        void run() throws Exception;
    }

    /** A thread of either kind, and what it has ended with. */
    static final class Forked {
        private PicoThread light;
        private Thread kernel;
        private volatile Throwable failure;

        void join() throws Exception {
            if (light != null) {
                light.join();
            } else {
                kernel.join();
            }
            if (failure instanceof Exception) {
                throw (Exception) failure;
            }
            if (failure != null) {
                throw (Error) failure;
            }
        }

        void interrupt() {
            if (light != null) {
                light.interrupt();
            } else {
                kernel.interrupt();
            }
        }

        /** Returns when the thread waits for the network, as the only one that does. */
        void awaitIo() {
            do {
                awaitBlocked();
            } while (Reactor.get().waiting.get() == 0);
        }

        /** Returns when the thread waits for something that another thread, or the network, does. */
        void awaitBlocked() {
            Thread.State s;
            do {
                if (light != null) {
                    PicoThread.yield();
                    s = light.getState();
                } else {
                    Thread.yield();
                    s = kernel.getState();
                }
            } while (s != Thread.State.WAITING && s != Thread.State.TIMED_WAITING);
        }
    }

    void run(Action main) throws Exception {
        if (this == KERNEL_THREADS) {
            main.run();
            return;
        }
        try (PicoRuntime r = PicoRuntime.builder().carriers(ordinal() + 1).build()) {
            r.call(() -> {
                main.run();
                return null;
            });
        }
    }

    Forked fork(Action body) {
        Forked f = new Forked();
        Runnable r = () -> {
            try {
                body.run();
            } catch (Throwable t) {
                f.failure = t;
            }
        };
        if (this == KERNEL_THREADS) {
            f.kernel = new Thread(r);
            f.kernel.start();
        } else {
            f.light = PicoThread.spawn(r);
        }
        return f;
    }

    /** Two ends of a connection. */
    static Socket[] pair() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 5, java.net.InetAddress.getLoopbackAddress())) {
            Socket a = new Socket(server.getInetAddress(), server.getLocalPort());
            return new Socket[] {a, (Socket) server.accept()};
        }
    }
}
