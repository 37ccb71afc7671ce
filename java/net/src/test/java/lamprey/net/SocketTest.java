package lamprey.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.Random;
import lamprey.PicoThread;
import lamprey.net.Where.Forked;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Sockets do what the JDK's do, and wake those who wait. */
@Timeout(240)
class SocketTest {
    private static String message(Where.Action a, Class<? extends Exception> type) {
        try {
            a.run();
        } catch (Exception e) {
            assertEquals(type, e.getClass(), e.toString());
            return e.getMessage();
        }
        return fail("nothing was thrown; expected " + type);
    }

    @ParameterizedTest
    @EnumSource
    void bytes_go_and_come_back(Where where) throws Exception {
        where.run(() -> {
            Socket[] s = Where.pair();
            Forked echo = where.fork(() -> {
                InputStream in = s[1].getInputStream();
                OutputStream out = s[1].getOutputStream();
                byte[] b = new byte[100];
                int n;
                while ((n = in.read(b)) >= 0) {
                    out.write(b, 0, n);
                }
                s[1].close();
            });
            for (int i = 0; i < 1000; i++) {
                s[0].getOutputStream().write(i);
                assertEquals(i & 0xff, s[0].getInputStream().read());
            }
            s[0].shutdownOutput();
            assertEquals(-1, s[0].getInputStream().read());
            echo.join();
            s[0].close();
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_slow_reader_blocks_the_writer_and_loses_nothing(Where where) throws Exception {
        byte[] sent = new byte[8 << 20];
        new Random(1).nextBytes(sent);
        where.run(() -> {
            Socket[] s = Where.pair();
            Forked writer = where.fork(() -> {
                s[0].getOutputStream().write(sent);
                s[0].shutdownOutput();
            });
            writer.awaitBlocked();
            byte[] got = lampreyRead(s[1].getInputStream());
            writer.join();
            assertArrayEquals(sent, got);
            s[0].close();
            s[1].close();
        });
    }

    private static byte[] lampreyRead(InputStream in) throws IOException {
        java.io.ByteArrayOutputStream all = new java.io.ByteArrayOutputStream();
        byte[] b = new byte[5000];
        int n;
        while ((n = in.read(b, 0, b.length)) >= 0) {
            all.write(b, 0, n);
        }
        return all.toByteArray();
    }

    @ParameterizedTest
    @EnumSource
    void a_read_times_out_and_the_next_one_reads(Where where) throws Exception {
        where.run(() -> {
            Socket[] s = Where.pair();
            s[0].setSoTimeout(20);
            assertEquals("Read timed out", message(() -> s[0].getInputStream().read(), SocketTimeoutException.class));
            s[1].getOutputStream().write(7);
            s[0].setSoTimeout(0);
            assertEquals(7, s[0].getInputStream().read());
            s[0].close();
            s[1].close();
        });
    }

    @ParameterizedTest
    @EnumSource
    void accept_times_out(Where where) throws Exception {
        where.run(() -> {
            try (ServerSocket server = new ServerSocket(0)) {
                server.setSoTimeout(20);
                assertEquals("Accept timed out", message(server::accept, SocketTimeoutException.class));
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void connecting_fails_as_in_the_jdk(Where where) throws Exception {
        where.run(() -> {
            ServerSocket gone = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            int port = gone.getLocalPort();
            gone.close();
            assertEquals("Connection refused", message(() -> new Socket("127.0.0.1", port), ConnectException.class));
            Socket s = new Socket();
            message(() -> s.connect(InetSocketAddress.createUnresolved("no.such.host.invalid", 1)), UnknownHostException.class);
            assertEquals("Socket is not connected", message(s::getInputStream, SocketException.class));
            s.close();
            assertEquals("Socket is closed", message(() -> s.connect(new InetSocketAddress("127.0.0.1", port)), SocketException.class));
            message(() -> new Socket("127.0.0.1", 70000), IllegalArgumentException.class);
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_port_in_use_is_refused_and_free_after_close(Where where) throws Exception {
        where.run(() -> {
            ServerSocket first = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            int port = first.getLocalPort();
            Forked waiting = where.fork(() -> message(first::accept, SocketException.class));
            waiting.awaitBlocked();
            assertTrue(message(() -> new ServerSocket(port, 1, InetAddress.getLoopbackAddress()), BindException.class).startsWith("Address already in use"));
            for (int i = 0; i < 20; i++) {
                (i == 0 ? first : new ServerSocket(port, 1, InetAddress.getLoopbackAddress())).close();
            }
            waiting.join();
        });
    }

    @ParameterizedTest
    @EnumSource
    void close_wakes_whoever_waits(Where where) throws Exception {
        where.run(() -> {
            Socket[] s = Where.pair();
            ServerSocket server = new ServerSocket(0);
            Forked reader = where.fork(() -> assertEquals("Socket closed", message(() -> s[0].getInputStream().read(), SocketException.class)));
            Forked writer = where.fork(() -> assertEquals("Socket closed", message(() -> s[0].getOutputStream().write(new byte[16 << 20]), SocketException.class)));
            Forked acceptor = where.fork(() -> assertEquals("Socket closed", message(server::accept, SocketException.class)));
            reader.awaitBlocked();
            writer.awaitBlocked();
            acceptor.awaitBlocked();
            s[0].close();
            server.close();
            reader.join();
            writer.join();
            acceptor.join();
            assertEquals("Socket is closed", message(s[0]::getInputStream, SocketException.class));
            s[1].close();
        });
    }

    @ParameterizedTest
    @EnumSource
    void an_interrupt_leaves_the_read_and_the_socket_lives_on(Where where) throws Exception {
        where.run(() -> {
            Socket[] s = Where.pair();
            java.util.concurrent.atomic.AtomicBoolean left = new java.util.concurrent.atomic.AtomicBoolean();
            Forked reader = where.fork(() -> {
                message(() -> s[0].getInputStream().read(), InterruptedIOException.class);
                assertTrue(PicoThread.interrupted(), "the interrupt is set");
                left.set(true);
                assertEquals(9, s[0].getInputStream().read());
            });
            reader.awaitIo();
            reader.interrupt();
            while (!left.get()) {
                PicoThread.yield();
            }
            s[1].getOutputStream().write(9);
            reader.join();
            s[0].close();
            s[1].close();
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_half_closed_connection_still_receives(Where where) throws Exception {
        where.run(() -> {
            Socket[] s = Where.pair();
            s[0].shutdownOutput();
            assertEquals(-1, s[1].getInputStream().read());
            s[1].getOutputStream().write(3);
            assertEquals(3, s[0].getInputStream().read());
            assertEquals("Socket output is shutdown", message(s[0]::getOutputStream, SocketException.class));
            assertEquals("Socket output is already shutdown", message(s[0]::shutdownOutput, SocketException.class));
            Forked reader = where.fork(() -> assertEquals(-1, s[0].getInputStream().read()));
            reader.awaitIo();
            s[0].shutdownInput();
            reader.join();
            s[0].close();
            s[1].close();
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_peer_that_resets_is_reported_each_time(Where where) throws Exception {
        where.run(() -> {
            Socket[] s = Where.pair();
            Forked reader = where.fork(() -> {
                assertEquals("Connection reset", message(() -> s[0].getInputStream().read(), SocketException.class));
                assertEquals("Connection reset", message(() -> s[0].getInputStream().read(), SocketException.class));
            });
            reader.awaitIo();
            s[1].setSoLinger(true, 0);
            s[1].close();
            reader.join();
            s[0].close();
        });
    }

    @ParameterizedTest
    @EnumSource
    void available_bytes_are_not_lost(Where where) throws Exception {
        where.run(() -> {
            Socket[] s = Where.pair();
            assertEquals(0, s[0].getInputStream().available());
            s[1].getOutputStream().write(new byte[] {1, 2, 3, 4, 5});
            while (s[0].getInputStream().available() < 5) {
                PicoThread.yield();
            }
            byte[] b = new byte[3];
            assertEquals(3, s[0].getInputStream().read(b));
            assertEquals(2, s[0].getInputStream().available());
            assertEquals(4, s[0].getInputStream().read());
            s[1].close();
            assertEquals(5, s[0].getInputStream().read());
            assertEquals(-1, s[0].getInputStream().read());
            s[0].close();
        });
    }

    @ParameterizedTest
    @EnumSource
    void writes_of_several_threads_are_not_mixed(Where where) throws Exception {
        where.run(() -> {
            Socket[] s = Where.pair();
            int size = 1 << 20;
            Forked[] writers = new Forked[3];
            for (int w = 0; w < writers.length; w++) {
                byte[] block = new byte[size];
                java.util.Arrays.fill(block, (byte) w);
                writers[w] = where.fork(() -> s[0].getOutputStream().write(block));
            }
            Forked reader = where.fork(() -> {
                byte[] all = lampreyRead(s[1].getInputStream());
                assertEquals(3 * size, all.length);
                for (int i = 0; i < all.length; i++) {
                    if (all[i] != all[i - i % size]) {
                        fail("byte " + i + " is of another write");
                    }
                }
            });
            for (Forked w : writers) {
                w.join();
            }
            s[0].close();
            reader.join();
            s[1].close();
        });
    }

    @ParameterizedTest
    @EnumSource
    void several_threads_accept_and_read_the_same_sockets(Where where) throws Exception {
        where.run(() -> {
            ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            Forked[] acceptors = new Forked[8];
            for (int i = 0; i < acceptors.length; i++) {
                acceptors[i] = where.fork(() -> {
                    java.net.Socket s = server.accept();
                    s.getOutputStream().write(1);
                    s.close();
                });
            }
            for (int i = 0; i < acceptors.length; i++) {
                Socket s = new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort());
                assertEquals(1, s.getInputStream().read());
                s.close();
            }
            for (Forked a : acceptors) {
                a.join();
            }
            server.close();
        });
    }

    @ParameterizedTest
    @EnumSource
    void addresses_and_options_are_those_of_the_jdk(Where where) throws Exception {
        where.run(() -> {
            try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                Socket ours = new Socket(server.getInetAddress(), server.getLocalPort());
                java.net.Socket jdk = new java.net.Socket(server.getInetAddress(), server.getLocalPort())) {
                ours.setTcpNoDelay(true);
                ours.setKeepAlive(true);
                ours.setSoLinger(true, 3);
                ours.setReuseAddress(true);
                assertTrue(ours.getTcpNoDelay() && ours.getKeepAlive() && ours.getReuseAddress());
                assertEquals(3, ours.getSoLinger());
                ours.setSoLinger(false, 0);
                assertEquals(jdk.getInetAddress(), ours.getInetAddress());
                assertEquals(jdk.getPort(), ours.getPort());
                assertEquals(jdk.getRemoteSocketAddress(), ours.getRemoteSocketAddress());
                assertEquals(jdk.getLocalAddress(), ours.getLocalAddress());
                assertEquals(jdk.toString().replaceAll("\\d+\\]", ""), ours.toString().replaceAll("\\d+\\]", ""));
                assertTrue(ours.isConnected() && ours.isBound() && !ours.isClosed());
                assertNull(ours.getChannel());
                assertEquals("Urgent data not supported", message(() -> ours.sendUrgentData(1), SocketException.class));
                jdk.close();
                ours.close();
                assertEquals(jdk.isConnected(), ours.isConnected());
                assertEquals(jdk.isBound(), ours.isBound());
                assertEquals(jdk.getInetAddress(), ours.getInetAddress());
                assertEquals(jdk.getLocalAddress(), ours.getLocalAddress());
                assertEquals(jdk.getPort(), ours.getPort());
                assertTrue(ours.isClosed());
                ours.close();
            }
            Socket fresh = new Socket();
            java.net.Socket jdk = new java.net.Socket();
            assertEquals(jdk.toString(), fresh.toString());
            assertEquals(jdk.getLocalPort(), fresh.getLocalPort());
            assertEquals(jdk.getPort(), fresh.getPort());
            assertEquals(jdk.getLocalAddress(), fresh.getLocalAddress());
            assertFalse(fresh.isBound());
            fresh.bind(null);
            assertTrue(fresh.isBound() && fresh.getLocalPort() > 0);
            fresh.close();
            jdk.close();
        });
    }
}
