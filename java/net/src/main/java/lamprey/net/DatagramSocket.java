package lamprey.net;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocketImpl;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.PortUnreachableException;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.MembershipKey;
import java.nio.channels.SelectionKey;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import lamprey.PicoRuntime;

/**
 * {@link java.net.DatagramSocket} whose {@link #receive} and {@link #send} suspend a light thread, and block only the calling one if that is a kernel
 * thread. An interrupt ends them with an {@link java.io.InterruptedIOException}, and stays set.
 */
public class DatagramSocket extends java.net.DatagramSocket {
    private final DatagramChannel channel;
    private final java.net.DatagramSocket options;
    private final Registration link;
    private final Map<Object, MembershipKey> groups = new HashMap<>();
    private volatile boolean closed;
    private volatile boolean bound;
    private boolean chosenPort;
    private volatile InetSocketAddress remote;
    private volatile int localPort;
    private volatile int timeout;
    /** The packet that was received last, the length that it got and the one that it had: a packet does not tell how long its buffer is. */
    private DatagramPacket lastPacket;
    private int lastLength;
    private int lastRoom;

    /** Bound to any port. */
    public DatagramSocket() throws SocketException {
        this(new InetSocketAddress(0));
    }

    /** Bound to a port. */
    public DatagramSocket(int port) throws SocketException {
        this(port, null);
    }

    /** Bound to a port of a local address; null for all. */
    public DatagramSocket(int port, InetAddress local) throws SocketException {
        this(new InetSocketAddress(local, port));
    }

    /** Bound; not bound if {@code address} is null. */
    public DatagramSocket(SocketAddress address) throws SocketException {
        super(new NoDatagramImpl());
        try {
            channel = DatagramChannel.open();
            channel.configureBlocking(false);
        } catch (IOException e) {
            throw Failures.socket(e);
        }
        options = channel.socket();
        link = new Registration(channel);
        if (address != null) {
            boolean done = false;
            try {
                bind(address);
                done = true;
            } finally {
                if (!done) {
                    close();
                }
            }
        }
    }

    /** For subclasses that bring an implementation: not supported. */
    protected DatagramSocket(DatagramSocketImpl impl) {
        super(new NoDatagramImpl());
        throw new UnsupportedOperationException("a DatagramSocketImpl of one's own is not supported: " + impl);
    }

    private void checkOpen() throws SocketException {
        if (closed) {
            throw new SocketException("Socket is closed");
        }
    }

    @Override
    public void bind(SocketAddress address) throws SocketException {
        checkOpen();
        if (bound) {
            throw new SocketException("already bound");
        }
        SocketAddress at = address == null ? new InetSocketAddress(0) : address;
        if (!(at instanceof InetSocketAddress)) {
            throw new IllegalArgumentException("Unsupported address type!");
        }
        if (((InetSocketAddress) at).isUnresolved()) {
            throw new SocketException("Unresolved address");
        }
        options.bind(at);
        chosenPort = true;
        localPort = options.getLocalPort();
        bound = true;
    }

    @Override
    public void connect(InetAddress address, int port) {
        if (address == null) {
            throw new IllegalArgumentException("connect: null address");
        }
        try {
            connect(new InetSocketAddress(address, port));
        } catch (SocketException e) {
            throw new IllegalStateException("connect failed", e);
        }
    }

    @Override
    public void connect(SocketAddress address) throws SocketException {
        checkOpen();
        if (!(address instanceof InetSocketAddress)) {
            throw new IllegalArgumentException(address == null ? "Address can't be null" : "Unsupported address type");
        }
        InetSocketAddress to = (InetSocketAddress) address;
        if (to.isUnresolved()) {
            throw new SocketException("Unresolved address");
        }
        try {
            if (remote != null) {
                channel.disconnect();
            }
            channel.connect(to);
            localPort = options.getLocalPort();
        } catch (IOException e) {
            throw Failures.socket(e);
        }
        bound = true;
        remote = to;
    }

    @Override
    public void disconnect() {
        try {
            if (remote != null) {
                channel.disconnect();
                remote = null;
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** Sends. Blocks while there is no room for it. */
    @Override
    public void send(DatagramPacket p) throws IOException {
        checkOpen();
        InetSocketAddress to = destination(p);
        ByteBuffer bytes = ByteBuffer.wrap(p.getData(), p.getOffset(), p.getLength());
        int length = bytes.remaining();
        while (attempt(bytes, to) < length) {
            link.await(SelectionKey.OP_WRITE, Long.MAX_VALUE);
        }
        if (!bound) {
            localPort = options.getLocalPort();
            bound = true;
        }
    }

    private InetSocketAddress destination(DatagramPacket p) throws SocketException {
        InetSocketAddress connected = remote;
        InetAddress address = p.getAddress();
        if (connected != null) {
            if (address == null) {
                p.setSocketAddress(connected);
            } else if (!address.equals(connected.getAddress()) || p.getPort() != connected.getPort()) {
                throw new IllegalArgumentException("connected address and packet address differ");
            }
            return connected;
        }
        if (address == null) {
            throw new IllegalArgumentException("Address not set");
        }
        if (p.getPort() <= 0 || p.getPort() > 0xffff) {
            throw new SocketException("Can't send to port " + p.getPort());
        }
        return new InetSocketAddress(address, p.getPort());
    }

    private int attempt(ByteBuffer bytes, InetSocketAddress to) throws IOException {
        int length = bytes.remaining();
        try {
            int n = channel.send(bytes, to);
            return length == 0 ? length : n;
        } catch (PortUnreachableException e) {
            throw e;
        } catch (IOException e) {
            throw Failures.socket(e);
        }
    }

    /** Receives. Blocks. @throws SocketTimeoutException after {@link #setSoTimeout} */
    @Override
    public void receive(DatagramPacket p) throws IOException {
        checkOpen();
        if (!bound) {
            bind(new InetSocketAddress(0));
        }
        int millis = timeout;
        long deadline = millis == 0 ? 0 : PicoRuntime.nanoTime() + millis * 1_000_000L;
        while (!attempt(p)) {
            if (!link.await(SelectionKey.OP_READ, millis == 0 ? Long.MAX_VALUE : deadline - PicoRuntime.nanoTime())) {
                throw new SocketTimeoutException("Receive timed out");
            }
        }
    }

    private synchronized boolean attempt(DatagramPacket p) throws IOException {
        if (link.isClosed()) {
            throw Registration.closed();
        }
        int room = p == lastPacket && p.getLength() == lastLength ? lastRoom : p.getLength();
        ByteBuffer bytes = ByteBuffer.wrap(p.getData(), p.getOffset(), Math.min(room, p.getData().length - p.getOffset()));
        SocketAddress from;
        try {
            from = channel.receive(bytes);
        } catch (PortUnreachableException e) {
            throw e;
        } catch (IOException e) {
            throw Failures.socket(e);
        }
        if (from == null) {
            return false;
        }
        p.setSocketAddress(from);
        p.setLength(bytes.position() - p.getOffset());
        lastPacket = p;
        lastLength = p.getLength();
        lastRoom = room;
        return true;
    }

    /** Closes. Those who are blocked in a method of this socket get a {@link SocketException}. The port is free when this returns. */
    @Override
    public void close() {
        closed = true;
        if (link == null) {
            return;
        }
        try {
            if (link.close() && chosenPort) {
                Reactor.get().flush();
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Override
    public boolean isBound() {
        return bound;
    }

    @Override
    public boolean isConnected() {
        return remote != null;
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public InetAddress getInetAddress() {
        InetSocketAddress r = remote;
        return r == null ? null : r.getAddress();
    }

    @Override
    public int getPort() {
        InetSocketAddress r = remote;
        return r == null ? -1 : r.getPort();
    }

    @Override
    public SocketAddress getRemoteSocketAddress() {
        return remote;
    }

    @Override
    public InetAddress getLocalAddress() {
        return closed ? null : options.getLocalAddress();
    }

    @Override
    public int getLocalPort() {
        return closed ? -1 : localPort;
    }

    @Override
    public SocketAddress getLocalSocketAddress() {
        return closed || !bound ? null : new InetSocketAddress(getLocalAddress(), localPort);
    }

    /** The channel is not given out: it is in non-blocking mode. */
    @Override
    public DatagramChannel getChannel() {
        return null;
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
    public int getSoTimeout() throws SocketException {
        checkOpen();
        return timeout;
    }

    @Override
    public void setSendBufferSize(int size) throws SocketException {
        options.setSendBufferSize(size);
    }

    @Override
    public int getSendBufferSize() throws SocketException {
        return options.getSendBufferSize();
    }

    @Override
    public void setReceiveBufferSize(int size) throws SocketException {
        options.setReceiveBufferSize(size);
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        return options.getReceiveBufferSize();
    }

    @Override
    public void setReuseAddress(boolean on) throws SocketException {
        options.setReuseAddress(on);
    }

    @Override
    public boolean getReuseAddress() throws SocketException {
        return options.getReuseAddress();
    }

    @Override
    public void setBroadcast(boolean on) throws SocketException {
        options.setBroadcast(on);
    }

    @Override
    public boolean getBroadcast() throws SocketException {
        return options.getBroadcast();
    }

    @Override
    public void setTrafficClass(int tc) throws SocketException {
        options.setTrafficClass(tc);
    }

    @Override
    public int getTrafficClass() throws SocketException {
        return options.getTrafficClass();
    }

    /** Sets an option of the channel. */
    public <T> java.net.DatagramSocket setOption(SocketOption<T> name, T value) throws IOException {
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

    /** Joins a multicast group. */
    public void joinGroup(SocketAddress group, NetworkInterface on) throws IOException {
        checkOpen();
        synchronized (groups) {
            if (groups.containsKey(group)) {
                throw new SocketException("Already a member of group");
            }
            groups.put(group, channel.join(((InetSocketAddress) group).getAddress(), on));
        }
    }

    /** Leaves a multicast group. */
    public void leaveGroup(SocketAddress group, NetworkInterface on) throws IOException {
        checkOpen();
        synchronized (groups) {
            MembershipKey key = groups.remove(group);
            if (key == null) {
                throw new SocketException("Not a member of group");
            }
            key.drop();
        }
    }
}
