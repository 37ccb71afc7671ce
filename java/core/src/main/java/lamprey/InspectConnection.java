package lamprey;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;

/**
 * A connection of an {@link InspectServer}: requests one after the other, each with a limit of time. The endpoint's thread calls it when the socket can be read or written; it never waits.
 */
final class InspectConnection {
    /** The longest head of a request. */
    private static final int LONGEST = 16 << 10;
    /** So much is written at a time: the JDK keeps a copy outside of the heap. */
    private static final int PIECE = 64 << 10;
    /** The slowest client that gets an answer whole, in bytes a second, beside its patience. */
    private static final int SLOWEST = 16 << 10;
    /** How long the client may take to read the last answer: a socket that is closed with bytes unread resets the connection. */
    private static final long LINGER = TimeUnit.SECONDS.toNanos(1);

    private final SocketChannel channel;
    private final SelectionKey key;
    private final String token;
    private final long patience;
    /** What has come and has not been read, from 0 to its position. */
    private final ByteBuffer unread = ByteBuffer.allocate(LONGEST);
    /** So many bytes of it have been looked at for the end of a head. */
    private int looked;
    /** The answer that is written; null while a request is read. */
    private ByteBuffer out;
    /** Whether another request may come behind the answer. */
    private boolean keeps;
    /** Whether all is written, and the client's end is waited for. */
    private boolean lingers;
    private int answered;
    private long deadline;

    InspectConnection(SocketChannel channel, Selector selector, String token, long patience) throws IOException {
        this.channel = channel;
        this.token = token;
        this.patience = patience;
        deadline = System.nanoTime() + patience;
        try {
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            key = channel.register(selector, SelectionKey.OP_READ, this);
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    /** When it has taken too long, by {@link System#nanoTime}. */
    long deadline() {
        return deadline;
    }

    /** How many requests have been answered whole. */
    int answered() {
        return answered;
    }

    void close() {
        try {
            channel.close();
        } catch (IOException e) {
            // It is over already.
        }
    }

    /** Goes on with what can be done at once, up to the end of one answer. Returns whether the connection stays open. */
    boolean goOn() throws IOException {
        if (lingers) {
            unread.clear();
            return channel.read(unread) >= 0;
        }
        return out != null ? write() : read();
    }

    /** The time is over. Returns whether the connection stays open. */
    boolean expire() {
        if (out != null || lingers || unread.position() == 0) {
            return false;
        }
        answer(InspectAnswer.error(408, "the head has not come within " + TimeUnit.NANOSECONDS.toSeconds(patience) + " s"), false, false);
        try {
            return write();
        } catch (IOException e) {
            return false;
        }
    }

    private boolean read() throws IOException {
        int end = endOfHead();
        if (end < 0) {
            boolean first = unread.position() == 0;
            int n = channel.read(unread);
            if (n <= 0) {
                return n == 0;
            }
            if (first) {
                // The head's time begins with its first byte.
                deadline = System.nanoTime() + patience;
            }
            end = endOfHead();
        }
        if (end >= 0) {
            request(end);
            return write();
        }
        if (!unread.hasRemaining()) {
            answer(InspectAnswer.error(431, "a head of more than " + LONGEST + " bytes"), false, false);
            return write();
        }
        return true;
    }

    /** Where the head ends that has come: behind an empty line. Negative if it is not whole. */
    private int endOfHead() {
        byte[] b = unread.array();
        int n = unread.position();
        for (int i = Math.max(looked - 2, 0); i + 1 < n; i++) {
            int next = i + (b[i + 1] == '\r' && i + 2 < n ? 2 : 1);
            if (b[i] == '\n' && b[next] == '\n') {
                looked = 0;
                return next + 1;
            }
        }
        looked = n;
        return -1;
    }

    private void request(int end) {
        byte[] head = new byte[end];
        unread.flip();
        unread.get(head);
        unread.compact();
        boolean bodyless = false;
        try {
            InspectRequest.Head h = InspectRequest.Head.parse(head);
            bodyless = h.isHead;
            InspectRequest r = InspectRequest.of(h, token);
            InspectAnswer a;
            try {
                a = InspectRoutes.answer(r);
            } catch (InspectRequest.Refused refused) {
                a = InspectAnswer.error(refused.status, refused.getMessage());
            } catch (RuntimeException | StackOverflowError failed) {
                a = InspectAnswer.error(500, "a fault of the endpoint: " + failed);
            }
            answer(a, bodyless, h.keepsOpen);
        } catch (InspectRequest.Refused refused) {
            answer(InspectAnswer.error(refused.status, refused.getMessage()), bodyless, false);
        }
    }

    private void answer(InspectAnswer a, boolean bodyless, boolean keepsOpen) {
        out = ByteBuffer.wrap(a.bytes(bodyless, keepsOpen));
        keeps = keepsOpen;
        deadline = System.nanoTime() + patience + TimeUnit.SECONDS.toNanos(out.remaining() / SLOWEST);
    }

    private boolean write() throws IOException {
        int end = out.limit();
        int n;
        do {
            out.limit(Math.min(end, out.position() + PIECE));
            n = channel.write(out);
            out.limit(end);
        } while (n > 0 && out.hasRemaining());
        if (out.hasRemaining()) {
            key.interestOps(SelectionKey.OP_WRITE);
            return true;
        }
        out = null;
        answered++;
        if (!keeps) {
            channel.shutdownOutput();
            lingers = true;
        }
        deadline = System.nanoTime() + (lingers ? LINGER : patience);
        // What has come behind the request is read in the next turn, after the others: a socket that can be written is found at once.
        key.interestOps(!lingers && unread.position() > 0 ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ);
        return true;
    }
}
