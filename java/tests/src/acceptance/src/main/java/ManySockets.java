import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** Plain Java: a server with a thread for each connection, and as many clients, all connected at the same time. */
public class ManySockets {
    private final AtomicInteger served = new AtomicInteger();
    private final AtomicInteger answered = new AtomicInteger();
    private volatile Exception failure;

    private void serve(Socket s) {
        try (Socket open = s;
             BufferedReader in = new BufferedReader(new InputStreamReader(open.getInputStream(), StandardCharsets.UTF_8));
             Writer out = new OutputStreamWriter(open.getOutputStream(), StandardCharsets.UTF_8)) {
            String line;
            while ((line = in.readLine()) != null) {
                // Counted first: with the last answer its client may end, and main compare.
                served.incrementAndGet();
                out.write("echo " + line + "\n");
                out.flush();
            }
        } catch (IOException e) {
            failure = e;
        }
    }

    private void ask(int port, int number, CountDownLatch connected) {
        boolean counted = false;
        try (Socket s = new Socket(InetAddress.getLoopbackAddress(), port)) {
            connected.countDown();
            counted = true;
            connected.await();
            BufferedReader in = new BufferedReader(new InputStreamReader(s.getInputStream(), StandardCharsets.UTF_8));
            Writer out = new OutputStreamWriter(s.getOutputStream(), StandardCharsets.UTF_8);
            for (int i = 0; i < 3; i++) {
                out.write(number + "." + i + "\n");
                out.flush();
                String line = in.readLine();
                if (!("echo " + number + "." + i).equals(line)) {
                    throw new IOException("answer to " + number + " is " + line);
                }
            }
            answered.incrementAndGet();
        } catch (IOException | InterruptedException e) {
            failure = e;
        } finally {
            if (!counted) {
                connected.countDown();
            }
        }
    }

    private void run(int count) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1000, InetAddress.getLoopbackAddress())) {
            Thread acceptor = new Thread(() -> {
                try {
                    for (int i = 0; i < count; i++) {
                        Socket s = server.accept();
                        new Thread(() -> serve(s)).start();
                    }
                } catch (IOException e) {
                    failure = e;
                }
            });
            acceptor.start();
            CountDownLatch connected = new CountDownLatch(count);
            List<Thread> clients = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int number = i;
                Thread t = new Thread(() -> ask(server.getLocalPort(), number, connected));
                t.start();
                clients.add(t);
            }
            for (Thread t : clients) {
                t.join();
            }
            acceptor.join();
        }
        if (failure != null) {
            throw failure;
        }
        if (answered.get() != count || served.get() != 3 * count) {
            throw new IllegalStateException(answered + " clients were answered, with " + served + " lines");
        }
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        new ManySockets().run(count);
        int kernelThreads = ManagementFactory.getThreadMXBean().getPeakThreadCount();
        if (kernelThreads > 200) {
            throw new IllegalStateException(kernelThreads + " kernel threads: these are not light");
        }
        System.out.println(count + " connections at the same time, a thread at each end; at most " + kernelThreads + " kernel threads");
    }
}
