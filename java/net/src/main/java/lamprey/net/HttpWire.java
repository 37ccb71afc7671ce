package lamprey.net;

import java.io.IOException;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import lamprey.dns.Dns;

/** One connection to an HTTP server, which may serve several requests, one after the other; between them it is in {@link HttpIdle}. */
final class HttpWire {
    private final String key;
    private final Socket socket;
    final HttpInput in;
    final OutputStream out;
    /** Guarded by the lock of {@link HttpIdle}. */
    long idleSince;
    /** Has served a request: the server may have closed it meanwhile. */
    boolean used;

    private HttpWire(String key, Socket socket) throws IOException {
        this.key = key;
        this.socket = socket;
        this.in = new HttpInput((SocketInput) socket.getInputStream());
        this.out = socket.getOutputStream();
    }

    /** An idle one, or null. Does not block. */
    static HttpWire idle(String host, int port) throws IOException {
        return HttpIdle.take(host + ":" + port);
    }

    /** Connects, to the first address of the host that can be. Blocks. */
    static HttpWire connect(String host, int port, int timeoutMillis) throws IOException {
        IOException failure = null;
        InetAddress[] addresses = Dns.addresses(host);
        for (int i = 0; i < addresses.length; i++) {
            Socket s = new Socket();
            try {
                s.connect(new InetSocketAddress(addresses[i], port), timeoutMillis);
                s.setTcpNoDelay(true);
                return new HttpWire(host + ":" + port, s);
            } catch (ConnectException e) {
                failure = e;
            }
        }
        throw failure;
    }

    void readTimeout(int millis) throws IOException {
        socket.setSoTimeout(millis);
    }

    /**
     * The response has been read: another request may use the connection. Whoever calls this has this connection no longer, and must not close it. If more than the
     * response has come, it will not be used: what came would be taken for the next response. Does not block.
     */
    void release() throws IOException {
        used = true;
        HttpIdle.give(key, this);
    }

    void close() throws IOException {
        socket.close();
    }
}
