package lamprey.net;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Set;
import lamprey.PicoRuntime;
import lamprey.dns.Dns;

/**
 * {@link java.net.Socket} whose blocking methods (the constructors that connect, {@link #connect}, and those of its streams) suspend a light thread, and
 * block only the calling one if that is a kernel thread. The methods and exceptions are the JDK's, with these differences: an interrupt ends a
 * blocking method with an {@link java.io.InterruptedIOException}, and stays set; there are no proxies and no urgent data.
 *
 * <p>Invariant: {@link #channel} is null until it is needed, then a channel in non-blocking mode, the same one for good; {@link #link} is its registration.
 * Options go to the JDK's own adaptor of the channel.
 */
public class Socket extends java.net.Socket {
    private SocketChannel channel;
    private Registration link;
    private java.net.Socket options;
    private SocketInput input;
    private SocketOutput output;
    private volatile boolean closed;
    private volatile boolean connected;
    private volatile boolean bound;
    private volatile InetSocketAddress remote;
    private volatile int localPort = -1;
    volatile int timeout;
    private volatile boolean inputShut;
    private volatile boolean outputShut;

    /** Not connected. */
    public Socket() {
        super();
    }

    /** Not connected. Only {@link Proxy#NO_PROXY} is supported. */
    public Socket(Proxy proxy) {
        super();
        if (proxy == null) {
            throw new IllegalArgumentException("Invalid Proxy");
        }
        if (proxy.type() != Proxy.Type.DIRECT) {
            throw new UnsupportedOperationException("a socket through a proxy is not supported: " + proxy + "; connect to the proxy itself");
        }
    }

    /** For subclasses that bring an implementation: only null is supported. */
    protected Socket(SocketImpl impl) throws SocketException {
        super(none());
        if (impl != null) {
            throw new SocketException("a SocketImpl of one's own is not supported: " + impl.getClass().getName());
        }
    }

    /** Connects. Blocks. */
    public Socket(String host, int port) throws UnknownHostException, IOException {
        super(none());
        open(new InetSocketAddress(Dns.address(host), port), null);
    }

    /** Connects. Blocks. */
    public Socket(InetAddress address, int port) throws IOException {
        super(none());
        open(new InetSocketAddress(nonNull(address), port), null);
    }

    /** Connects, from a local address. Blocks. */
    public Socket(String host, int port, InetAddress localAddress, int localPort) throws IOException {
        super(none());
        open(new InetSocketAddress(Dns.address(host), port), new InetSocketAddress(localAddress, localPort));
    }

    /** Connects, from a local address. Blocks. */
    public Socket(InetAddress address, int port, InetAddress localAddress, int localPort) throws IOException {
        super(none());
        open(new InetSocketAddress(nonNull(address), port), new InetSocketAddress(localAddress, localPort));
    }

    /** Connects. Blocks. @deprecated as the JDK's; only for streams */
    @Deprecated
    public Socket(String host, int port, boolean stream) throws IOException {
        super(none());
        streamOnly(stream);
        open(new InetSocketAddress(Dns.address(host), port), null);
    }

    /** Connects. Blocks. @deprecated as the JDK's; only for streams */
    @Deprecated
    public Socket(InetAddress address, int port, boolean stream) throws IOException {
        super(none());
        streamOnly(stream);
        open(new InetSocketAddress(nonNull(address), port), null);
    }

    /** Accepted. */
    Socket(SocketChannel accepted) throws IOException {
        super(none());
        accepted.configureBlocking(false);
        adopt(accepted);
        remote = (InetSocketAddress) accepted.getRemoteAddress();
        established();
    }

    private static SocketImpl none() {
        return null;
    }

    private static InetAddress nonNull(InetAddress address) {
        if (address == null) {
            throw new NullPointerException("the address is null");
        }
        return address;
    }

    private static void streamOnly(boolean stream) {
        if (!stream) {
            throw new IllegalArgumentException("Socket constructor does not support creation of datagram sockets");
        }
    }

    private void open(InetSocketAddress to, InetSocketAddress from) throws IOException {
        boolean done = false;
        try {
            if (from != null) {
                bind(from);
            }
            connect(to, 0);
            done = true;
        } finally {
            if (!done) {
                close();
            }
        }
    }

    private void adopt(SocketChannel c) {
        channel = c;
        link = new Registration(c);
        options = c.socket();
    }

    /** The JDK's adaptor of the channel, which is made if there is none. */
    private synchronized java.net.Socket options() throws SocketException {
        if (closed) {
            throw new SocketException("Socket is closed");
        }
        if (channel == null) {
            try {
                SocketChannel c = SocketChannel.open();
                c.configureBlocking(false);
                adopt(c);
            } catch (SocketException e) {
                throw e;
            } catch (IOException e) {
                throw Failures.socket(e);
            }
        }
        return options;
    }

    private void established() throws IOException {
        localPort = options.getLocalPort();
        bound = true;
        connected = true;
    }

    @Override
    public void connect(SocketAddress endpoint) throws IOException {
        connect(endpoint, 0);
    }

    @Override
    public void connect(SocketAddress endpoint, int timeout) throws IOException {
        if (endpoint == null) {
            throw new IllegalArgumentException("connect: The address can't be null");
        }
        if (timeout < 0) {
            throw new IllegalArgumentException("connect: timeout can't be negative");
        }
        options();
        if (connected) {
            throw new SocketException("already connected");
        }
        if (!(endpoint instanceof InetSocketAddress)) {
            throw new IllegalArgumentException("Unsupported address type");
        }
        InetSocketAddress to = (InetSocketAddress) endpoint;
        if (to.isUnresolved()) {
            throw new UnknownHostException(to.getHostName());
        }
        if (to.getAddress().isAnyLocalAddress()) {
            to = new InetSocketAddress(InetAddress.getLoopbackAddress(), to.getPort());
        }
        boolean done = false;
        try {
            establish(to, timeout);
            remote = (InetSocketAddress) endpoint;
            established();
            done = true;
        } catch (IOException e) {
            throw Failures.connect(e, closed);
        } finally {
            if (!done) {
                close();
            }
        }
    }

    private void establish(InetSocketAddress to, int timeout) throws IOException {
        if (channel.connect(to)) {
            return;
        }
        long deadline = timeout == 0 ? 0 : PicoRuntime.nanoTime() + timeout * 1_000_000L;
        do {
            if (!link.await(SelectionKey.OP_CONNECT, timeout == 0 ? Long.MAX_VALUE : deadline - PicoRuntime.nanoTime())) {
                throw new SocketTimeoutException("Connect timed out");
            }
        } while (!channel.finishConnect());
    }

    @Override
    public void bind(SocketAddress address) throws IOException {
        java.net.Socket o = options();
        if (bound) {
            throw new SocketException("Already bound");
        }
        o.bind(address);
        localPort = o.getLocalPort();
        bound = true;
    }

    private void checkConnected() throws SocketException {
        if (closed) {
            throw new SocketException("Socket is closed");
        }
        if (!connected) {
            throw new SocketException("Socket is not connected");
        }
    }

    @Override
    public InputStream getInputStream() throws IOException {
        checkConnected();
        if (inputShut) {
            throw new SocketException("Socket input is shutdown");
        }
        synchronized (this) {
            if (input == null) {
                input = new SocketInput(this, channel, link);
            }
            return input;
        }
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        checkConnected();
        if (outputShut) {
            throw new SocketException("Socket output is shutdown");
        }
        synchronized (this) {
            if (output == null) {
                output = new SocketOutput(this, channel, link);
            }
            return output;
        }
    }

    /** Closes. Those who are blocked in a method of this socket get a {@link SocketException}. Does not block. */
    @Override
    public void close() throws IOException {
        Registration open;
        synchronized (this) {
            closed = true;
            open = link;
        }
        if (open != null) {
            open.close();
        }
    }

    @Override
    public void shutdownInput() throws IOException {
        checkConnected();
        if (inputShut) {
            throw new SocketException("Socket input is already shutdown");
        }
        inputShut = true;
        channel.shutdownInput();
    }

    @Override
    public void shutdownOutput() throws IOException {
        checkConnected();
        if (outputShut) {
            throw new SocketException("Socket output is already shutdown");
        }
        outputShut = true;
        channel.shutdownOutput();
    }

    @Override
    public void sendUrgentData(int data) throws IOException {
        checkConnected();
        throw new SocketException("Urgent data not supported");
    }

    @Override
    public boolean isConnected() {
        return connected;
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
    public boolean isInputShutdown() {
        return inputShut;
    }

    @Override
    public boolean isOutputShutdown() {
        return outputShut;
    }

    @Override
    public InetAddress getInetAddress() {
        return connected ? remote.getAddress() : null;
    }

    @Override
    public int getPort() {
        return connected ? remote.getPort() : 0;
    }

    @Override
    public SocketAddress getRemoteSocketAddress() {
        return connected ? remote : null;
    }

    @Override
    public InetAddress getLocalAddress() {
        java.net.Socket o = options;
        return !bound || closed ? new InetSocketAddress(0).getAddress() : o.getLocalAddress();
    }

    @Override
    public int getLocalPort() {
        return localPort;
    }

    @Override
    public SocketAddress getLocalSocketAddress() {
        return bound ? new InetSocketAddress(getLocalAddress(), localPort) : null;
    }

    @Override
    public void setSoTimeout(int millis) throws SocketException {
        options();
        if (millis < 0) {
            throw new IllegalArgumentException("timeout can't be negative");
        }
        timeout = millis;
    }

    @Override
    public int getSoTimeout() throws SocketException {
        options();
        return timeout;
    }

    @Override
    public void setTcpNoDelay(boolean on) throws SocketException {
        options().setTcpNoDelay(on);
    }

    @Override
    public boolean getTcpNoDelay() throws SocketException {
        return options().getTcpNoDelay();
    }

    @Override
    public void setSoLinger(boolean on, int seconds) throws SocketException {
        java.net.Socket o = options();
        if (on && seconds < 0) {
            throw new IllegalArgumentException("invalid value for SO_LINGER");
        }
        o.setSoLinger(on, seconds);
    }

    @Override
    public int getSoLinger() throws SocketException {
        return options().getSoLinger();
    }

    @Override
    public void setOOBInline(boolean on) throws SocketException {
        options().setOOBInline(on);
    }

    @Override
    public boolean getOOBInline() throws SocketException {
        return options().getOOBInline();
    }

    @Override
    public void setSendBufferSize(int size) throws SocketException {
        options().setSendBufferSize(size);
    }

    @Override
    public int getSendBufferSize() throws SocketException {
        return options().getSendBufferSize();
    }

    @Override
    public void setReceiveBufferSize(int size) throws SocketException {
        options().setReceiveBufferSize(size);
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        return options().getReceiveBufferSize();
    }

    @Override
    public void setKeepAlive(boolean on) throws SocketException {
        options().setKeepAlive(on);
    }

    @Override
    public boolean getKeepAlive() throws SocketException {
        return options().getKeepAlive();
    }

    @Override
    public void setTrafficClass(int tc) throws SocketException {
        options().setTrafficClass(tc);
    }

    @Override
    public int getTrafficClass() throws SocketException {
        return options().getTrafficClass();
    }

    @Override
    public void setReuseAddress(boolean on) throws SocketException {
        options().setReuseAddress(on);
    }

    @Override
    public boolean getReuseAddress() throws SocketException {
        return options().getReuseAddress();
    }

    @Override
    public void setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        // As in the JDK, without effect.
    }

    /** Sets an option of the channel. */
    public <T> java.net.Socket setOption(SocketOption<T> name, T value) throws IOException {
        options();
        channel.setOption(name, value);
        return this;
    }

    /** Gets an option of the channel. */
    public <T> T getOption(SocketOption<T> name) throws IOException {
        options();
        return channel.getOption(name);
    }

    /** The options that can be set. */
    public Set<SocketOption<?>> supportedOptions() {
        try {
            options();
        } catch (SocketException e) {
            return java.util.Collections.emptySet();
        }
        return channel.supportedOptions();
    }

    @Override
    public String toString() {
        return connected ? "Socket[addr=" + getInetAddress() + ",port=" + getPort() + ",localport=" + localPort + "]" : "Socket[unconnected]";
    }
}
