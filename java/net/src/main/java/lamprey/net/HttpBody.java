package lamprey.net;

import java.io.IOException;
import lamprey.io.InputStream;

/**
 * The body of a response: of a given length, in chunks, or up to the end of the connection. When it has been read to its end the connection is given back;
 * closed before, it is closed.
 */
final class HttpBody extends InputStream {
    private static final long TO_THE_END = -1;
    private static final long CHUNKS = -2;
    /** As much is read at closing, so that the connection can be used again. */
    private static final int MOST_REST = 4096;

    private final HttpWire wire;
    private final boolean chunked;
    private final boolean keep;
    /** Bytes until the end, or until the next chunk; TO_THE_END if not known. */
    private long left;
    private boolean firstChunk = true;
    private boolean ended;
    private boolean closed;

    private HttpBody(HttpWire wire, long left, boolean keep) throws IOException {
        this.wire = wire;
        this.chunked = left == CHUNKS;
        this.left = chunked ? 0 : left;
        this.keep = keep;
        if (left == 0) {
            end();
        }
    }

    /** Takes the connection over. @param mayKeep whether the request did not ask the server to close it */
    static HttpBody of(HttpWire wire, HttpHead head, String method, boolean mayKeep) throws IOException {
        boolean keep = mayKeep && (head.version11 ? !head.has("Connection", "close") : head.has("Connection", "keep-alive"));
        if (method.equals("HEAD") || head.code == 204 || head.code == 304 || head.code < 200) {
            return new HttpBody(wire, 0, keep);
        }
        String coding = head.get("Transfer-Encoding");
        if ("chunked".equalsIgnoreCase(coding)) {
            return new HttpBody(wire, CHUNKS, keep);
        }
        long n = TO_THE_END;
        try {
            String length = head.get("Content-Length");
            n = coding == null && length != null ? Long.parseLong(length) : TO_THE_END;
        } catch (NumberFormatException e) {
            // As in the JDK, what is no length is none.
        }
        return n >= 0 ? new HttpBody(wire, n, keep) : new HttpBody(wire, TO_THE_END, false);
    }

    private void end() throws IOException {
        if (!ended) {
            ended = true;
            if (keep) {
                wire.release();
            } else {
                wire.close();
            }
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] b, int off, int len) throws IOException {
        if (closed) {
            throw new IOException("stream is closed");
        }
        if ((off | len | (off + len) | (b.length - (off + len))) < 0) {
            throw new IndexOutOfBoundsException("offset " + off + ", count " + len + ", length " + b.length);
        }
        if (len == 0) {
            return 0;
        }
        if (chunked && left == 0 && !ended) {
            nextChunk();
        }
        if (ended) {
            return -1;
        }
        int n = wire.in.read(b, off, left == TO_THE_END ? len : (int) Math.min(left, len));
        if (n < 0) {
            boolean complete = left == TO_THE_END;
            ended = true;
            wire.close();
            if (!complete) {
                throw new IOException("Premature EOF: " + left + " bytes of the body are missing");
            }
            return -1;
        }
        if (left != TO_THE_END) {
            left -= n;
            if (left == 0 && !chunked) {
                end();
            }
        }
        return n;
    }

    /** Where a chunk begins is not known any more if this fails, so the connection is closed then. */
    private void nextChunk() throws IOException {
        boolean done = false;
        try {
            readChunkHead();
            done = true;
        } finally {
            if (!done && !ended) {
                ended = true;
                wire.close();
            }
        }
    }

    private void readChunkHead() throws IOException {
        int[] budget = {8192};
        if (!firstChunk && !"".equals(wire.in.line(budget))) {
            throw broken("no end of line behind a chunk");
        }
        firstChunk = false;
        String size = wire.in.line(budget);
        if (size == null) {
            throw broken("the connection ended");
        }
        left = chunkSize(size);
        if (left < 0) {
            throw broken("the size of a chunk is \"" + size + "\"");
        }
        if (left == 0) {
            String trailer;
            while ((trailer = wire.in.line(budget)) != null && !trailer.isEmpty()) {
                // Fields behind the body are not used.
            }
            end();
        }
    }

    /** Up to fifteen hexadecimal digits, then the end, a blank or a semicolon; else -1. */
    private static long chunkSize(String line) {
        long n = 0;
        int i = 0;
        for (; i < line.length() && i < 15 && line.charAt(i) < 0x80 && Character.digit(line.charAt(i), 16) >= 0; i++) {
            n = n << 4 | Character.digit(line.charAt(i), 16);
        }
        return i > 0 && (i == line.length() || "; \t".indexOf(line.charAt(i)) >= 0) ? n : -1;
    }

    private IOException broken(String how) throws IOException {
        ended = true;
        wire.close();
        return new IOException("Premature EOF: in a chunked body, " + how);
    }

    @Override
    public int available() throws IOException {
        if (ended || closed || left == 0) {
            return 0;
        }
        int n = wire.in.available();
        return left == TO_THE_END ? n : (int) Math.min(left, n);
    }

    @Override
    public void close() throws IOException {
        if (!closed) {
            if (!ended && keep && !chunked && left <= MOST_REST && wire.in.available() >= left) {
                skip(left);
            }
            closed = true;
            if (!ended) {
                ended = true;
                wire.close();
            }
        }
    }
}
