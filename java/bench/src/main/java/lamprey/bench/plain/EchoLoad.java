package lamprey.bench.plain;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * Load for an echo server: on each connection a message is sent when the one before has come back. One kernel thread and a selector, in a process
 * of its own, so that all servers get the same.
 */
public final class EchoLoad {
    private static final int LENGTH = 32;
    private static final int SAMPLES = 1 << 20;

    private final int port;
    private final Selector selector = Selector.open();
    private final ByteBuffer message = ByteBuffer.allocateDirect(LENGTH);
    private final ByteBuffer in = ByteBuffer.allocateDirect(LENGTH);
    private final long[] latencies = new long[SAMPLES];
    private long returned;

    private EchoLoad(int port) throws IOException {
        this.port = port;
    }

    private static final class Connection {
        int pending;
        long sent;
    }

    /**
     * Arguments: port, process of the server, connections, seconds of warm-up, seconds of measurement. Prints messages a second, messages for each second
     * of processor time that the server used (which others on the machine hardly change), and latencies in microseconds.
     */
    public static void main(String[] args) throws IOException {
        int connections = Integer.parseInt(args[2]);
        EchoLoad load = new EchoLoad(Integer.parseInt(args[0]));
        long begin = System.nanoTime();
        load.connect(connections);
        double connecting = (System.nanoTime() - begin) / 1e9;
        load.pump(TimeUnit.SECONDS.toNanos(Long.parseLong(args[3])));
        long nanos = TimeUnit.SECONDS.toNanos(Long.parseLong(args[4]));
        double before = processorSeconds(args[1]);
        long count = load.pump(nanos);
        double used = processorSeconds(args[1]) - before;
        int n = (int) Math.min(count, SAMPLES);
        long[] sorted = Arrays.copyOf(load.latencies, n);
        Arrays.sort(sorted);
        System.out.printf("%.0f messages/s, %.0f for each second of processor time, latency us median %d p99 %d, %d connections (made in %.1f s)%n",
            count * 1e9 / nanos, count / used, sorted[n / 2] / 1000, sorted[(int) (n * 0.99)] / 1000, connections, connecting);
    }

    /** Of all threads of a process: the fields utime and stime, in hundredths of a second. */
    private static double processorSeconds(String process) throws IOException {
        String stat = new String(Files.readAllBytes(Paths.get("/proc/" + process + "/stat")), StandardCharsets.US_ASCII);
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / 100.0;
    }

    private void connect(int connections) throws IOException {
        for (int i = 0; i < connections; i++) {
            SocketChannel c = SocketChannel.open(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port));
            c.configureBlocking(false);
            c.socket().setTcpNoDelay(true);
            c.register(selector, SelectionKey.OP_READ, new Connection());
        }
        for (SelectionKey key : selector.keys()) {
            send(key);
        }
    }

    private void send(SelectionKey key) throws IOException {
        message.clear();
        Connection c = (Connection) key.attachment();
        c.pending = LENGTH;
        c.sent = System.nanoTime();
        if (((SocketChannel) key.channel()).write(message) != LENGTH) {
            throw new IOException("a socket buffer has no room for " + LENGTH + " bytes");
        }
    }

    private long pump(long nanos) throws IOException {
        returned = 0;
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() - end < 0) {
            if (selector.select(1000) == 0) {
                throw new IOException("nothing came back for a second, after " + returned + " messages");
            }
            for (SelectionKey key : selector.selectedKeys()) {
                receive(key);
            }
            selector.selectedKeys().clear();
        }
        return returned;
    }

    private void receive(SelectionKey key) throws IOException {
        Connection c = (Connection) key.attachment();
        in.clear().limit(c.pending);
        int n = ((SocketChannel) key.channel()).read(in);
        if (n < 0) {
            throw new IOException("the server has closed a connection");
        }
        c.pending -= n;
        if (c.pending == 0) {
            latencies[(int) (returned++ % SAMPLES)] = System.nanoTime() - c.sent;
            send(key);
        }
    }
}
