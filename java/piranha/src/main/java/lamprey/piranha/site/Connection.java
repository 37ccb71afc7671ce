package lamprey.piranha.site;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** A client of the test site. It reads a request, answers it, and reads the next one. */
final class Connection {
    private final Site site;
    private final SocketChannel channel;
    private final SelectionKey key;
    private final ByteBuffer in = ByteBuffer.allocate(4096);
    /** What is being answered; null while a request is awaited. */
    private Pages.Answer answer;
    /** When it is sent, by {@link System#nanoTime}. */
    long due;

    Connection(Site site, SocketChannel channel, SelectionKey key) {
        this.site = site;
        this.channel = channel;
        this.key = key;
    }

    /** The selector says that there is something to read, or room to write. */
    void ready() {
        try {
            if (answer != null && key.isWritable()) {
                write();
            } else {
                read();
            }
        } catch (IOException e) {
            drop();
        }
    }

    private void read() throws IOException {
        int n = channel.read(in);
        if (n < 0 || n == 0 && !in.hasRemaining()) {
            drop();
            return;
        }
        if (answer == null) {
            next();
        }
    }

    /** Takes a request out of the buffer, if it is complete. */
    private void next() throws IOException {
        String text = new String(in.array(), 0, in.position(), StandardCharsets.ISO_8859_1);
        int end = text.indexOf("\r\n\r\n");
        if (end < 0) {
            return;
        }
        in.flip();
        in.position(end + 4);
        in.compact();
        site.counted();
        String[] line = text.substring(0, text.indexOf('\r')).split(" ");
        boolean close = text.substring(0, end).toLowerCase(Locale.ROOT).contains("connection: close");
        answer = site.pages.answer(line.length > 1 ? line[1] : "", close);
        if (answer.delayMillis > 0) {
            due = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(answer.delayMillis);
            site.later(this);
        } else if (!answer.silent) {
            write();
        }
    }

    /** The delay is over. */
    void send() {
        try {
            if (channel.isOpen()) {
                write();
            }
        } catch (IOException e) {
            drop();
        }
    }

    private void write() throws IOException {
        channel.write(answer.parts);
        for (ByteBuffer part : answer.parts) {
            if (part.hasRemaining()) {
                key.interestOps(SelectionKey.OP_WRITE);
                return;
            }
        }
        if (answer.close) {
            drop();
            return;
        }
        answer = null;
        key.interestOps(SelectionKey.OP_READ);
        next();
    }

    private void drop() {
        key.cancel();
        try {
            channel.close();
        } catch (IOException e) {
            // It is gone either way.
        }
    }
}
