package lamprey.net;

import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import lamprey.instrument.Monitors;
import lamprey.io.OutputStream;

/**
 * What is sent by a socket. Writes block while the peer does not take the bytes; {@link #close} closes the socket. The bytes of one write are not mixed with those
 * of another thread's: this object's monitor.
 */
final class SocketOutput extends OutputStream {
    /** More is not written at a time: the JDK copies it through memory that it keeps for each kernel thread. */
    private static final int MOST = 128 * 1024;

    private final Socket socket;
    private final SocketChannel channel;
    private final Registration link;

    SocketOutput(Socket socket, SocketChannel channel, Registration link) {
        this.socket = socket;
        this.channel = channel;
        this.link = link;
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] b, int off, int len) throws IOException {
        if ((off | len | (off + len) | (b.length - (off + len))) < 0) {
            throw new IndexOutOfBoundsException("offset " + off + ", count " + len + ", length " + b.length);
        }
        Monitors.enter(this);
        try {
            int done = 0;
            while (done < len) {
                int n = attempt(b, off + done, Math.min(len - done, MOST));
                done += n;
                if (n == 0) {
                    link.await(SelectionKey.OP_WRITE, Long.MAX_VALUE);
                }
            }
        } finally {
            Monitors.exit(this);
        }
    }

    private int attempt(byte[] b, int off, int len) throws IOException {
        if (link.isClosed()) {
            throw Registration.closed();
        }
        if (socket.isOutputShutdown()) {
            throw new SocketException("Socket output is shutdown");
        }
        try {
            return channel.write(ByteBuffer.wrap(b, off, len));
        } catch (IOException e) {
            // What the system says: the peer has reset the connection, or did before ("Broken pipe").
            throw e instanceof ClosedChannelException ? Failures.socket(e) : Failures.asSaid(e);
        }
    }

    @Override
    public void flush() {}

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
