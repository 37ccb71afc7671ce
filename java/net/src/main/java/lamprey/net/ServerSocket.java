package lamprey.net;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;
import lamprey.PicoRuntime;

/**
 * {@link java.net.ServerSocket} whose {@link #accept} suspends a light thread, and blocks only the calling one if that is a kernel thread. An interrupt ends it
 * with an {@link java.io.InterruptedIOException}, and stays set. Several threads may accept at the same time.
 */
public class ServerSocket extends java.net.ServerSocket {
    private final ServerSocketChannel channel;
    private final java.net.ServerSocket options;
    private final Registration link;
    private volatile boolean bound;
    private volatile boolean closed;
    private volatile InetSocketAddress local;
    private volatile int timeout;

    /** Not bound. */
    public ServerSocket() throws IOException {
        channel = ServerSocketChannel.open();
        channel.configureBlocking(false);
        options = channel.socket();
        link = new Registration(channel);
    }

    /** Bound to a port; 0 for any. */
    public ServerSocket(int port) throws IOException {
        this(port, 50, null);
    }

    /** Bound to a port; 0 for any. */
    public ServerSocket(int port, int backlog) throws IOException {
        this(port, backlog, null);
    }

    /** Bound to a port of a local address; null for all. */
    public ServerSocket(int port, int backlog, InetAddress address) throws IOException {
        this();
        boolean done = false;
        try {
            if (port < 0 || port > 0xffff) {
                throw new IllegalArgumentException("Port value out of range: " + port);
            }
            bind(new InetSocketAddress(address, port), backlog);
            done = true;
        } finally {
            if (!done) {
                close();
            }
        }
    }

    private void checkOpen() throws SocketException {
        if (closed) {
            throw new SocketException("Socket is closed");
        }
    }

    @Override
    public void bind(SocketAddress endpoint) throws IOException {
        bind(endpoint, 50);
    }

    @Override
    public void bind(SocketAddress endpoint, int backlog) throws IOException {
        checkOpen();
        if (bound) {
            throw new SocketException("Already bound");
        }
        SocketAddress at = endpoint == null ? new InetSocketAddress(0) : endpoint;
        if (!(at instanceof InetSocketAddress)) {
            throw new IllegalArgumentException("Unsupported address type");
        }
        if (((InetSocketAddress) at).isUnresolved()) {
            throw new SocketException("Unresolved address");
        }
        options.bind(at, backlog < 1 ? 50 : backlog);
        local = (InetSocketAddress) channel.getLocalAddress();
        bound = true;
    }

    /** Waits for a connection. Blocks. @throws SocketTimeoutException after {@link #setSoTimeout} */
    @Override
    public java.net.Socket accept() throws IOException {
        checkOpen();
        if (!bound) {
            throw new SocketException("Socket is not bound yet");
        }
        int millis = timeout;
        long deadline = millis == 0 ? 0 : PicoRuntime.nanoTime() + millis * 1_000_000L;
        SocketChannel accepted;
        while ((accepted = attempt()) == null) {
            if (!link.await(SelectionKey.OP_ACCEPT, millis == 0 ? Long.MAX_VALUE : deadline - PicoRuntime.nanoTime())) {
                throw new SocketTimeoutException("Accept timed out");
            }
        }
        return adopted(accepted);
    }

    private SocketChannel attempt() throws IOException {
        if (link.isClosed()) {
            throw Registration.closed();
        }
        try {
            return channel.accept();
        } catch (IOException e) {
            throw Failures.socket(e);
        }
    }

    private static Socket adopted(SocketChannel accepted) throws IOException {
        Socket s = null;
        try {
            s = new Socket(accepted);
            return s;
        } finally {
            if (s == null) {
                accepted.close();
            }
        }
    }

    /** Closes. Those who are blocked in {@link #accept} get a {@link SocketException}. The port is free when this returns. */
    @Override
    public void close() throws IOException {
        closed = true;
        if (link.close() && bound) {
            Reactor.get().flush();
        }
    }

    @Override
    public InetAddress getInetAddress() {
        return bound ? local.getAddress() : null;
    }

    @Override
    public int getLocalPort() {
        return bound ? local.getPort() : -1;
    }

    @Override
    public SocketAddress getLocalSocketAddress() {
        return bound ? local : null;
    }

    @Override
    public boolean isBound() {
        return bound;
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public void setSoTimeout(int millis) throws SocketException {
        checkOpen();
        if (millis < 0) {
            throw new IllegalArgumentException("timeout < 0");
        }
        timeout = millis;
    }

    @Override
    public int getSoTimeout() throws IOException {
        checkOpen();
        return timeout;
    }

    @Override
    public void setReuseAddress(boolean on) throws SocketException {
        checkOpen();
        options.setReuseAddress(on);
    }

    @Override
    public boolean getReuseAddress() throws SocketException {
        checkOpen();
        return options.getReuseAddress();
    }

    @Override
    public void setReceiveBufferSize(int size) throws SocketException {
        checkOpen();
        options.setReceiveBufferSize(size);
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        checkOpen();
        return options.getReceiveBufferSize();
    }

    @Override
    public void setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        // As in the JDK, without effect.
    }

    /** Sets an option of the channel. */
    public <T> java.net.ServerSocket setOption(SocketOption<T> name, T value) throws IOException {
        checkOpen();
        channel.setOption(name, value);
        return this;
    }

    /** Gets an option of the channel. */
    public <T> T getOption(SocketOption<T> name) throws IOException {
        checkOpen();
        return channel.getOption(name);
    }

    /** The options that can be set. */
    public Set<SocketOption<?>> supportedOptions() {
        return channel.supportedOptions();
    }

    @Override
    public String toString() {
        return bound ? "ServerSocket[addr=" + getInetAddress() + ",localport=" + getLocalPort() + "]" : "ServerSocket[unbound]";
    }
}
