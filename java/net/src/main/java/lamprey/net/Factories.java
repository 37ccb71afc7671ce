package lamprey.net;

import java.io.IOException;
import java.net.InetAddress;
import javax.net.ServerSocketFactory;
import javax.net.SocketFactory;

/** What rewritten programs get for the JDK's default factories: sockets of this package. Factories of TLS are the JDK's. */
public final class Factories {
    private static final SocketFactory SOCKETS = new Sockets();
    private static final ServerSocketFactory SERVERS = new Servers();

    private Factories() {}

    /** For {@link SocketFactory#getDefault()}. */
    public static SocketFactory sockets() {
        return SOCKETS;
    }

    /** For {@link ServerSocketFactory#getDefault()}. */
    public static ServerSocketFactory servers() {
        return SERVERS;
    }

    /** Its methods with arguments connect, and block. */
    private static final class Sockets extends SocketFactory {
        @Override
        public java.net.Socket createSocket() {
            return new Socket();
        }

        @Override
        public java.net.Socket createSocket(String host, int port) throws IOException {
            return new Socket(host, port);
        }

        @Override
        public java.net.Socket createSocket(InetAddress address, int port) throws IOException {
            return new Socket(address, port);
        }

        @Override
        public java.net.Socket createSocket(String host, int port, InetAddress localAddress, int localPort) throws IOException {
            return new Socket(host, port, localAddress, localPort);
        }

        @Override
        public java.net.Socket createSocket(InetAddress address, int port, InetAddress localAddress, int localPort) throws IOException {
            return new Socket(address, port, localAddress, localPort);
        }
    }

    /** Does not block. */
    private static final class Servers extends ServerSocketFactory {
        @Override
        public java.net.ServerSocket createServerSocket() throws IOException {
            return new ServerSocket();
        }

        @Override
        public java.net.ServerSocket createServerSocket(int port) throws IOException {
            return new ServerSocket(port);
        }

        @Override
        public java.net.ServerSocket createServerSocket(int port, int backlog) throws IOException {
            return new ServerSocket(port, backlog);
        }

        @Override
        public java.net.ServerSocket createServerSocket(int port, int backlog, InetAddress address) throws IOException {
            return new ServerSocket(port, backlog, address);
        }
    }
}
