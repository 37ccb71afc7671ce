package lamprey.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Thousands of connections at once, closed in every way, without a descriptor left. */
@Timeout(240)
class ManyConnectionsTest {
    private static int descriptors() {
        String[] open = new File("/proc/self/fd").list();
        return open == null ? 0 : open.length;
    }

    /** Descriptors are given back by the next select; a server socket's close forces one. */
    private static void assertDescriptors(int before) throws IOException {
        new ServerSocket(0).close();
        int now = descriptors();
        assertTrue(now <= before + 20, before + " descriptors before, " + now + " after");
    }

    private static void echo(java.net.Socket s) throws IOException {
        InputStream in = s.getInputStream();
        OutputStream out = s.getOutputStream();
        byte[] b = new byte[64];
        int n;
        while ((n = in.read(b, 0, b.length)) >= 0) {
            out.write(b, 0, n);
        }
        s.close();
    }

    private static int connections(Where where) {
        return where == Where.KERNEL_THREADS ? 200 : 2500;
    }

    @ParameterizedTest
    @EnumSource
    void each_connection_gets_its_own_bytes_back(Where where) throws Exception {
        new ServerSocket(0).close();
        int before = descriptors();
        int count = connections(where);
        where.run(() -> {
            ServerSocket server = new ServerSocket(0, 1000, InetAddress.getLoopbackAddress());
            Where.Forked acceptor = where.fork(() -> {
                List<Where.Forked> all = new ArrayList<>();
                for (int i = 0; i < count; i++) {
                    java.net.Socket s = server.accept();
                    all.add(where.fork(() -> echo(s)));
                }
                for (Where.Forked f : all) {
                    f.join();
                }
            });
            List<Where.Forked> clients = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int k = i;
                clients.add(where.fork(() -> {
                    Socket s = new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort());
                    for (int round = 0; round < 5; round++) {
                        s.getOutputStream().write(k + round);
                        assertEquals(k + round & 0xff, s.getInputStream().read());
                    }
                    s.close();
                }));
            }
            for (Where.Forked f : clients) {
                f.join();
            }
            acceptor.join();
            server.close();
        });
        assertDescriptors(before);
    }

    /** The connections' own ends are closed while threads read them; or the peers close, reset or vanish in the middle of a message. */
    @ParameterizedTest
    @EnumSource
    void closes_and_resets_while_reading_wake_every_reader(Where where) throws Exception {
        new ServerSocket(0).close();
        int before = descriptors();
        int count = connections(where) / 2;
        AtomicInteger ended = new AtomicInteger();
        AtomicInteger failed = new AtomicInteger();
        where.run(() -> {
            ServerSocket server = new ServerSocket(0, 1000, InetAddress.getLoopbackAddress());
            Socket[] ours = new Socket[count];
            java.net.Socket[] peers = new java.net.Socket[count];
            List<Where.Forked> readers = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                Socket s = new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort());
                ours[i] = s;
                peers[i] = server.accept();
                readers.add(where.fork(() -> {
                    try {
                        while (s.getInputStream().read() >= 0) {
                            // The next.
                        }
                        ended.incrementAndGet();
                    } catch (SocketException e) {
                        failed.incrementAndGet();
                    }
                }));
            }
            for (int i = 0; i < count; i++) {
                switch (i % 4) {
                    case 0:
                        ours[i].close();
                        break;
                    case 1:
                        peers[i].close();
                        break;
                    case 2:
                        peers[i].getOutputStream().write(1);
                        peers[i].setSoLinger(true, 0);
                        peers[i].close();
                        break;
                    default:
                        peers[i].shutdownOutput();
                }
            }
            for (Where.Forked r : readers) {
                r.join();
            }
            for (int i = 0; i < count; i++) {
                ours[i].close();
                peers[i].close();
            }
            server.close();
        });
        assertEquals(count, ended.get() + failed.get());
        assertTrue(ended.get() >= count / 2 - 2 && failed.get() >= count / 4 - 2, ended + " ended, " + failed + " failed");
        assertDescriptors(before);
    }
}
