package lamprey.net;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocketImpl;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.SocketException;

/** What the superclass of {@link DatagramSocket} is given so that it opens no socket of its own. None of its methods is ever called. */
final class NoDatagramImpl extends DatagramSocketImpl {
    private static IOException unused() {
        return new SocketException("this socket has no implementation of the JDK");
    }

    @Override
    protected void create() {}

    @Override
    protected void bind(int port, InetAddress address) throws SocketException {
        throw new SocketException(unused().getMessage());
    }

    @Override
    protected void send(DatagramPacket p) throws IOException {
        throw unused();
    }

    @Override
    protected int peek(InetAddress address) throws IOException {
        throw unused();
    }

    @Override
    protected int peekData(DatagramPacket p) throws IOException {
        throw unused();
    }

    @Override
    protected void receive(DatagramPacket p) throws IOException {
        throw unused();
    }

    @Override
    @Deprecated
    protected void setTTL(byte ttl) throws IOException {
        throw unused();
    }

    @Override
    @Deprecated
    protected byte getTTL() throws IOException {
        throw unused();
    }

    @Override
    protected void setTimeToLive(int ttl) throws IOException {
        throw unused();
    }

    @Override
    protected int getTimeToLive() throws IOException {
        throw unused();
    }

    @Override
    protected void join(InetAddress group) throws IOException {
        throw unused();
    }

    @Override
    protected void leave(InetAddress group) throws IOException {
        throw unused();
    }

    @Override
    protected void joinGroup(SocketAddress group, NetworkInterface on) throws IOException {
        throw unused();
    }

    @Override
    protected void leaveGroup(SocketAddress group, NetworkInterface on) throws IOException {
        throw unused();
    }

    @Override
    protected void close() {}

    @Override
    public void setOption(int option, Object value) throws SocketException {
        throw new SocketException(unused().getMessage());
    }

    @Override
    public Object getOption(int option) throws SocketException {
        throw new SocketException(unused().getMessage());
    }
}
