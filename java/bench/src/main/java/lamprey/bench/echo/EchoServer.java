package lamprey.bench.echo;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Sends back what it gets; a thread for each connection. Written against the JDK; the build makes a light one of it and keeps the plain one. */
public class EchoServer implements Runnable {
    private static final int BACKLOG = 4096;

    private final ServerSocket server;

    /** Listens on any free port of the loopback interface. */
    public EchoServer() throws IOException {
        server = new ServerSocket();
        server.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), 0), BACKLOG);
    }

    /** Serves, after it has printed its port, until the process is killed. */
    public static void main(String[] args) throws Exception {
        new EchoServer().run();
    }

    /** Accepts for ever. */
    @Override
    public void run() {
        System.out.println(server.getLocalPort());
        try {
            while (true) {
                start(new Client(server.accept()));
            }
        } catch (IOException e) {
            System.err.println("accept: " + e);
        }
    }

    /** Starts a thread. */
    protected void start(Runnable body) {
        new Thread(body).start();
    }

    private static final class Client implements Runnable {
        private final Socket socket;

        Client(Socket socket) {
            this.socket = socket;
        }

        @Override
        public void run() {
            byte[] buffer = new byte[256];
            try {
                socket.setTcpNoDelay(true);
                InputStream in = socket.getInputStream();
                OutputStream out = socket.getOutputStream();
                for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                    out.write(buffer, 0, n);
                }
                socket.close();
            } catch (IOException e) {
                System.err.println("a client: " + e);
            }
        }
    }
}
