package lamprey.tests.net;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Collections;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;

/** A plain program: a thread for each port, which tries to connect. */
final class PortScanner {
    private PortScanner() {}

    static SortedSet<Integer> open(String host, int from, int to) throws IOException, InterruptedException {
        InetAddress address = InetAddress.getByName(host);
        SortedSet<Integer> open = Collections.synchronizedSortedSet(new TreeSet<>());
        CountDownLatch left = new CountDownLatch(to - from + 1);
        for (int port = from; port <= to; port++) {
            int p = port;
            new Thread(() -> {
                try (Socket s = new Socket()) {
                    s.connect(new InetSocketAddress(address, p), 5000);
                    open.add(p);
                } catch (IOException e) {
                    // Not open.
                } finally {
                    left.countDown();
                }
            }).start();
        }
        left.await();
        return open;
    }
}
