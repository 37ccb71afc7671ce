package lamprey.net;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import lamprey.PicoRuntime;
import lamprey.io.InputStream;

/**
 * What a socket receives. Reads block; {@link #close} closes the socket.
 *
 * <p>Invariant: bytes that {@link #available} has read ahead are returned before any others. A read that got less than it asked for has emptied the
 * socket, so the next one waits at once, if the selector reports this socket anyway: that saves a system call.
 */
final class SocketInput extends InputStream {
    /** More is not read at a time: the JDK copies it through memory that it keeps for each kernel thread. */
    private static final int MOST = 128 * 1024;
    private static final int WOULD_BLOCK = -2;

    private final Socket socket;
    private final SocketChannel channel;
    private final Registration link;
    private byte[] ahead;
    private int at;
    private int end;
    private boolean atEnd;
    private boolean emptied;
    private SocketException reset;

    SocketInput(Socket socket, SocketChannel channel, Registration link) {
        this.socket = socket;
        this.channel = channel;
        this.link = link;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] b, int off, int len) throws IOException {
        if ((off | len | (off + len) | (b.length - (off + len))) < 0) {
            throw new IndexOutOfBoundsException("offset " + off + ", count " + len + ", length " + b.length);
        }
        if (len == 0) {
            return 0;
        }
        int n = attempt(b, off, len, true);
        return n != WOULD_BLOCK ? n : waitAndRead(b, off, len);
    }

    private int waitAndRead(byte[] b, int off, int len) throws IOException {
        int millis = socket.timeout;
        long deadline = millis == 0 ? 0 : PicoRuntime.nanoTime() + millis * 1_000_000L;
        int n;
        do {
            if (!link.await(SelectionKey.OP_READ, millis == 0 ? Long.MAX_VALUE : deadline - PicoRuntime.nanoTime())) {
                throw new SocketTimeoutException("Read timed out");
            }
            n = attempt(b, off, len, false);
        } while (n == WOULD_BLOCK);
        return n;
    }

    /** Never blocks, hence under a plain monitor: two threads may read one socket. */
    private synchronized int attempt(byte[] b, int off, int len, boolean mayGuess) throws IOException {
        if (at < end) {
            int n = Math.min(len, end - at);
            System.arraycopy(ahead, at, b, off, n);
            at += n;
            return n;
        }
        if (link.isClosed()) {
            throw Registration.closed();
        }
        if (reset != null) {
            throw new SocketException(reset.getMessage());
        }
        if (atEnd) {
            return -1;
        }
        if (mayGuess && emptied && link.isArmed(SelectionKey.OP_READ)) {
            return WOULD_BLOCK;
        }
        int most = Math.min(len, MOST);
        int n = receive(b, off, most);
        emptied = n >= 0 && n < most;
        return n == 0 ? WOULD_BLOCK : n;
    }

    private int receive(byte[] b, int off, int len) throws IOException {
        try {
            int n = channel.read(ByteBuffer.wrap(b, off, len));
            atEnd = n < 0;
            return n;
        } catch (IOException e) {
            SocketException s = Failures.socket(e);
            if ("Connection reset".equals(s.getMessage())) {
                reset = s;
            }
            throw s;
        }
    }

    /** Bytes that can be read without blocking. Reads them ahead, as channels of older JDKs do not tell how many there are. Does not block. */
    @Override
    public synchronized int available() throws IOException {
        if (link.isClosed()) {
            throw Registration.closed();
        }
        if (at < end) {
            return end - at;
        }
        if (atEnd || reset != null || socket.isInputShutdown()) {
            return 0;
        }
        if (ahead == null) {
            ahead = new byte[2048];
        }
        at = 0;
        end = 0;
        try {
            int n = receive(ahead, 0, ahead.length);
            emptied = n < ahead.length;
            end = Math.max(n, 0);
        } catch (SocketException e) {
            if (reset == null) {
                throw e;
            }
            return 0;
        } finally {
            if (end == 0) {
                ahead = null;
            }
        }
        return end;
    }

    /** Whether nothing has come, not even the end. Does not block. */
    synchronized boolean isQuiet() {
        try {
            return available() == 0 && !atEnd && reset == null;
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
