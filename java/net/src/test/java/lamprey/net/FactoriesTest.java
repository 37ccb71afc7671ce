package lamprey.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import lamprey.dns.Dns;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The default factories, and small things that sockets and names have in common with the JDK's. */
@Timeout(240)
class FactoriesTest {
    @ParameterizedTest
    @EnumSource
    void sockets_of_the_factories_talk(Where where) throws Exception {
        where.run(() -> {
            InetAddress here = InetAddress.getLoopbackAddress();
            try (java.net.ServerSocket server = Factories.servers().createServerSocket(0, 5, here)) {
                java.net.Socket s = Factories.sockets().createSocket(here, server.getLocalPort());
                java.net.Socket r = server.accept();
                assertTrue(s instanceof Socket && r instanceof Socket);
                Where.Forked writer = where.fork(() -> r.getOutputStream().write(7));
                assertEquals(7, s.getInputStream().read());
                writer.join();
                s.close();
                r.close();
            }
            assertFalse(Factories.sockets().createSocket().isConnected());
            assertFalse(Factories.servers().createServerSocket().isBound());
        });
    }

    @Test
    void lingering_for_less_than_no_time_is_refused() throws Exception {
        for (java.net.Socket s : new java.net.Socket[] {new java.net.Socket(), new Socket()}) {
            assertEquals("invalid value for SO_LINGER", assertThrows(IllegalArgumentException.class, () -> s.setSoLinger(true, -1)).getMessage());
            s.setSoLinger(false, -1);
            assertEquals(-1, s.getSoLinger());
            s.close();
        }
    }

    @Test
    void a_name_stays_as_it_was_written() throws Exception {
        assertEquals(InetAddress.getByName("LocalHost").getHostName(), Dns.address("LocalHost").getHostName());
        assertThrows(UnknownHostException.class, () -> Dns.address("localhost\0"));
        assertEquals(assertThrows(UnknownHostException.class, () -> InetAddress.getByName("local\0host")).getMessage().isEmpty(),
            assertThrows(UnknownHostException.class, () -> Dns.address("local\0host")).getMessage().isEmpty());
    }

    @Test
    void a_socket_whose_connecting_failed_is_of_no_use() throws Exception {
        int port;
        try (ServerSocket gone = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            port = gone.getLocalPort();
        }
        InetSocketAddress at = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        try (Socket s = new Socket()) {
            assertThrows(IOException.class, () -> s.connect(at));
            assertThrows(IOException.class, () -> s.connect(at));
        }
    }
}
