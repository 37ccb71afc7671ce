import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Light threads that are held in each way in which code that is not transformed can wait; two in each place. Goes on when all places have been named. */
public class Kinds {
    /** Not transformed: a library. */
    static class Foreign {
        static volatile boolean released;
        static final List<Thread> WAITING = new ArrayList<>();
        static final CountDownLatch LATCH = new CountDownLatch(1);
        static final Object MONITOR = new Object();
        static final Object HELD = new Object();
        static final ReentrantLock LOCK = new ReentrantLock();
        static final LinkedBlockingQueue<String> QUEUE = new LinkedBlockingQueue<>();
        static final CompletableFuture<String> FUTURE = new CompletableFuture<>();
        static ServerSocket server;
        static Socket[] sockets = new Socket[2];
        static int next;

        static void park() {
            remember();
            while (!released) {
                LockSupport.park();
            }
        }

        static void sleep() {
            remember();
            while (!released) {
                try {
                    Thread.sleep(1_000_000);
                } catch (InterruptedException e) {
                    return;
                }
            }
        }

        static synchronized void remember() {
            WAITING.add(Thread.currentThread());
        }

        static void latch() throws Exception {
            LATCH.await();
        }

        static void await() throws Exception {
            synchronized (MONITOR) {
                while (!released) {
                    MONITOR.wait();
                }
            }
        }

        static void monitor() {
            synchronized (HELD) {
                released |= false;
            }
        }

        static void lock() {
            LOCK.lock();
            LOCK.unlock();
        }

        static void queue() throws Exception {
            QUEUE.take();
        }

        static void future() throws Exception {
            FUTURE.get();
        }

        static void socket() throws Exception {
            Socket s;
            synchronized (Foreign.class) {
                s = sockets[next++];
            }
            s.getInputStream().read();
        }

        static void keep() throws Exception {
            server = new ServerSocket(0, 2, InetAddress.getLoopbackAddress());
            for (int i = 0; i < 2; i++) {
                sockets[i] = new Socket(server.getInetAddress(), server.getLocalPort());
            }
            CountDownLatch begun = new CountDownLatch(1);
            Thread t = new Thread(() -> {
                LOCK.lock();
                synchronized (HELD) {
                    begun.countDown();
                    try {
                        LATCH.await();
                    } catch (InterruptedException e) {
                        return;
                    }
                }
                LOCK.unlock();
            });
            t.setDaemon(true);
            t.start();
            begun.await();
        }

        static void release() throws Exception {
            released = true;
            synchronized (Foreign.class) {
                for (Thread t : WAITING) {
                    t.interrupt();
                }
            }
            LATCH.countDown();
            synchronized (MONITOR) {
                MONITOR.notifyAll();
            }
            QUEUE.add("a");
            QUEUE.add("b");
            FUTURE.complete("x");
            for (int i = 0; i < 2; i++) {
                server.accept().close();
            }
        }

        /** How many carriers there are. */
        static int carriers() {
            int n = 0;
            for (Thread t : Thread.getAllStackTraces().keySet()) {
                n += t.getName().startsWith("lamprey-1-") ? 1 : 0;
            }
            return n;
        }
    }

    static class Slow {
        static final int VALUE = wait(1);

        static int wait(int n) {
            synchronized (Kinds.class) {
                return n;
            }
        }
    }

    interface Body {
        void run() throws Exception;
    }

    static volatile boolean done;

    static void compute() {
        double x = 1;
        while (!done) {
            x = Math.sin(x) + 1;
        }
    }

    static int count(String text, String part) {
        return text.split(java.util.regex.Pattern.quote(part), -1).length - 1;
    }

    static Thread start(List<Thread> all, Body b) {
        Thread t = new Thread(() -> {
            try {
                b.run();
            } catch (Exception e) {
                System.out.println(e);
            }
        });
        all.add(t);
        t.start();
        return t;
    }

    public static void main(String[] args) throws Exception {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        System.setErr(new PrintStream(said, true));
        Foreign.keep();
        boolean computes = args.length > 0;
        Thread computing = new Thread(Kinds::compute);
        if (computes) {
            computing.start();
        }
        List<Thread> all = new ArrayList<>();
        PipedOutputStream sink = new PipedOutputStream();
        PipedInputStream pipe = new PipedInputStream(sink);
        synchronized (Kinds.class) {
            for (int i = 0; i < 2; i++) {
                start(all, Foreign::park);
                start(all, Foreign::sleep);
                start(all, Foreign::latch);
                start(all, Foreign::await);
                start(all, Foreign::monitor);
                start(all, Foreign::lock);
                start(all, Foreign::queue);
                start(all, Foreign::future);
                start(all, Foreign::socket);
                start(all, () -> uses(Slow.VALUE));
            }
            start(all, () -> uses(pipe.read()));
            String[] places = {"Foreign.park", "Foreign.sleep", "Foreign.latch", "Foreign.await", "Foreign.monitor", "Foreign.lock", "Foreign.queue", "Foreign.future", "Foreign.socket"};
            for (String text = ""; count(text, "is not transformed") < places.length || count(text, "static initialiser,") < 1 || count(text, "another thread initialises") < 1
                || count(text, "code of the JDK waits in java.io.PipedInputStream.read, called by Kinds.") < 1; text = said.toString()) {
                Thread.sleep(20);
            }
            Thread.sleep(300);
            for (String p : places) {
                System.out.println(p + " " + count(said.toString(), ": Kinds$" + p + "(Kinds.java"));
            }
        }
        Foreign.release();
        sink.write(1);
        for (Thread t : all) {
            t.join();
        }
        System.out.println("all woke");
        done = true;
        computing.join();
        while (Foreign.carriers() > Integer.getInteger("lamprey.carriers")) {
            Thread.sleep(20);
        }
        String text = said.toString();
        System.out.println("messages " + (count(text, "lamprey: ") - count(text, "it computes")) + ", computing " + (count(text, "it computes") > 1) + ", callers " + (count(text, "at Kinds.lambda$main$") > 0));
        if (System.getProperty("show") != null) {
            System.out.println(text);
        }
    }

    static void uses(int n) throws IOException {
        if (n < 0) {
            throw new IOException();
        }
    }
}
