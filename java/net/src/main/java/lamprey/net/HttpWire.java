package lamprey.net;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import lamprey.dns.Dns;
import lamprey.io.BufferedInputStream;

/** One connection to an HTTP server, which may serve several requests, one after the other. Idle ones are kept for a moment, a few for each server. */
final class HttpWire {
    private static final long KEEP_NANOS = 5_000_000_000L;
    private static final boolean KEEP = !"false".equals(System.getProperty("http.keepAlive"));
    private static final int MOST = Integer.getInteger("http.maxConnections", 5);
    private static final Map<String, ArrayDeque<HttpWire>> IDLE = new HashMap<>();

    private final String key;
    private final Socket socket;
    final InputStream in;
    final OutputStream out;
    private long idleSince;
    /** Has served a request: the server may have closed it meanwhile. */
    boolean used;

    private HttpWire(String key, Socket socket) throws IOException {
        this.key = key;
        this.socket = socket;
        this.in = new BufferedInputStream(socket.getInputStream());
        this.out = socket.getOutputStream();
    }

    /** An idle one, or null. Does not block. */
    static HttpWire idle(String host, int port) throws IOException {
        String key = host + ":" + port;
        while (true) {
            HttpWire w;
            synchronized (IDLE) {
                ArrayDeque<HttpWire> list = IDLE.get(key);
                w = list == null ? null : list.pollLast();
                if (list != null && list.isEmpty()) {
                    IDLE.remove(key);
                }
            }
            if (w == null) {
                return null;
            }
            if (System.nanoTime() - w.idleSince < KEEP_NANOS && w.in.available() == 0 && ((SocketInput) w.socket.getInputStream()).isQuiet()) {
                return w;
            }
            w.close();
        }
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
     * The response has been read: another request may use the connection, unless more than the response has come, which would be taken for the next one. Whoever
     * calls this has this connection no longer, and must not close it.
     */
    void release() throws IOException {
        if (!KEEP || in.available() > 0) {
            close();
            return;
        }
        used = true;
        idleSince = System.nanoTime();
        HttpWire surplus = null;
        synchronized (IDLE) {
            ArrayDeque<HttpWire> list = IDLE.computeIfAbsent(key, k -> new ArrayDeque<>());
            list.addLast(this);
            if (list.size() > MOST) {
                surplus = list.pollFirst();
            }
        }
        if (surplus != null) {
            surplus.close();
        }
    }

    void close() throws IOException {
        socket.close();
    }
}
