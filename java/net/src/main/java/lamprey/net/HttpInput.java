package lamprey.net;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * What arrives on an HTTP connection, through a buffer. A connection belongs to one thread at a time, so there is no lock: a line of a head is
 * found in the buffer at once, not read byte by byte.
 *
 * <p>Invariant: {@code buffer[at..end)} has arrived and has not been read.
 */
final class HttpInput {
    private final SocketInput in;
    private final byte[] buffer = new byte[8192];
    private int at;
    private int end;

    HttpInput(SocketInput in) {
        this.in = in;
    }

    /** Reads what there is, at least one byte; -1 at the end. Blocks. */
    int read(byte[] b, int off, int len) throws IOException {
        if (at == end) {
            if (len >= buffer.length) {
                return in.read(b, off, len);
            }
            if (!fill()) {
                return -1;
            }
        }
        int n = Math.min(len, end - at);
        System.arraycopy(buffer, at, b, off, n);
        at += n;
        return n;
    }

    /** Only when the buffer is empty. False at the end. Blocks. */
    private boolean fill() throws IOException {
        at = 0;
        end = 0;
        int n = in.read(buffer, 0, buffer.length);
        end = Math.max(n, 0);
        return n > 0;
    }

    /** A line without its end; null at the end of the stream. {@code budget[0]} is how many bytes may still come. Blocks. */
    String line(int[] budget) throws IOException {
        StringBuilder begun = null;
        while (true) {
            int from = at;
            int to = from;
            while (to < end && buffer[to] != '\n') {
                to++;
            }
            boolean complete = to < end;
            at = complete ? to + 1 : to;
            budget[0] -= to - from;
            if (budget[0] < 0) {
                throw new IOException("the head of a response has more bytes than are allowed");
            }
            String part = new String(buffer, from, to - from, StandardCharsets.ISO_8859_1);
            if (complete) {
                return withoutReturn(begun == null ? part : begun.append(part).toString());
            }
            begun = begun == null ? new StringBuilder(part) : begun.append(part);
            if (!fill()) {
                return begun.length() == 0 ? null : withoutReturn(begun.toString());
            }
        }
    }

    private static String withoutReturn(String line) {
        int last = line.length() - 1;
        return last >= 0 && line.charAt(last) == '\r' ? line.substring(0, last) : line;
    }

    /** Bytes that can be read without blocking. Does not block. */
    int available() throws IOException {
        return end - at + in.available();
    }

    /** Whether nothing has come that is not read, not even the end. Does not block. */
    boolean isQuiet() {
        return at == end && in.isQuiet();
    }
}
