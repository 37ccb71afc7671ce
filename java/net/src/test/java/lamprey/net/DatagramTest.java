package lamprey.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.DatagramPacket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Datagram sockets do what the JDK's do. */
@Timeout(240)
class DatagramTest {
    private static Class<?> thrown(Where.Action a) throws Exception {
        try {
            a.run();
        } catch (IOException | IllegalArgumentException e) {
            return e.getClass();
        }
        return null;
    }

    @ParameterizedTest
    @EnumSource
    void packets_come_whole_or_cut_to_the_buffer(Where where) throws Exception {
        where.run(() -> {
            try (DatagramSocket a = new DatagramSocket(0, InetAddress.getLoopbackAddress()); DatagramSocket b = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
                Where.Forked receiver = where.fork(() -> {
                    DatagramPacket p = new DatagramPacket(new byte[8], 2, 5);
                    for (int length : new int[] {3, 5, 0, 5}) {
                        b.receive(p);
                        assertEquals(length, p.getLength(), "a packet is as long as what came, and has room again for the next");
                        assertEquals(a.getLocalSocketAddress(), p.getSocketAddress());
                        if (length > 0) {
                            assertEquals(1, p.getData()[2]);
                        }
                    }
                });
                for (int length : new int[] {3, 7, 0, 5}) {
                    byte[] bytes = new byte[length];
                    java.util.Arrays.fill(bytes, (byte) 1);
                    a.send(new DatagramPacket(bytes, length, b.getLocalSocketAddress()));
                }
                receiver.join();
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void receiving_ends_by_timeout_interrupt_and_close(Where where) throws Exception {
        where.run(() -> {
            DatagramSocket s = new DatagramSocket();
            s.setSoTimeout(20);
            DatagramPacket p = new DatagramPacket(new byte[8], 8);
            assertEquals(SocketTimeoutException.class, thrown(() -> s.receive(p)));
            s.setSoTimeout(0);
            Where.Forked interrupted = where.fork(() -> assertEquals(InterruptedIOException.class, thrown(() -> s.receive(p))));
            interrupted.awaitIo();
            interrupted.interrupt();
            interrupted.join();
            Where.Forked closed = where.fork(() -> assertEquals(SocketException.class, thrown(() -> s.receive(p))));
            closed.awaitIo();
            s.close();
            closed.join();
            assertEquals(SocketException.class, thrown(() -> s.send(p)));
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_connected_socket_hears_one_peer(Where where) throws Exception {
        where.run(() -> {
            InetAddress loopback = InetAddress.getLoopbackAddress();
            try (DatagramSocket a = new DatagramSocket(0, loopback); DatagramSocket b = new DatagramSocket(0, loopback); DatagramSocket c = new DatagramSocket(0, loopback)) {
                a.connect(b.getLocalSocketAddress());
                assertTrue(a.isConnected());
                c.send(new DatagramPacket(new byte[] {1}, 1, a.getLocalSocketAddress()));
                b.send(new DatagramPacket(new byte[] {2}, 1, a.getLocalSocketAddress()));
                DatagramPacket p = new DatagramPacket(new byte[1], 1);
                a.receive(p);
                assertEquals(2, p.getData()[0]);
                assertEquals(IllegalArgumentException.class, thrown(() -> a.send(new DatagramPacket(new byte[1], 1, c.getLocalSocketAddress()))));
                a.disconnect();
                assertEquals(IllegalArgumentException.class, thrown(() -> a.send(new DatagramPacket(new byte[1], 1))));
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_port_is_free_after_close(Where where) throws Exception {
        where.run(() -> {
            DatagramSocket first = new DatagramSocket(0, InetAddress.getLoopbackAddress());
            InetSocketAddress at = (InetSocketAddress) first.getLocalSocketAddress();
            first.setSoTimeout(1);
            thrown(() -> first.receive(new DatagramPacket(new byte[1], 1)));
            first.close();
            for (int i = 0; i < 20; i++) {
                DatagramSocket again = new DatagramSocket(at);
                again.setSoTimeout(1);
                thrown(() -> again.receive(new DatagramPacket(new byte[1], 1)));
                again.close();
            }
        });
    }
}
