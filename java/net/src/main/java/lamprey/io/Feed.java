package lamprey.io;

import java.io.IOException;
import java.io.InputStream;

/**
 * What a decoder of the JDK reads from, so that it never blocks: {@link #read(byte[], int, int)} gives bytes that were read before or throws
 * {@link Empty}, having noted which part of its array the decoder wants filled. {@link #fill} reads the source into just that part, and the
 * decoder, called again, asks for the same part. If it asks for another, the bytes are copied there.
 */
final class Feed extends InputStream {
    /** There are no bytes: {@link #fill} and try again. */
    static final class Empty extends IOException {
        private static final Empty INSTANCE = new Empty();

        private Empty() {
            super("no bytes yet; this is caught by the reader");
        }

        @Override
        public Throwable fillInStackTrace() {
            return this;
        }
    }

    final InputStream source;
    private byte[] into;
    private int off;
    private int len;
    /** Bytes that {@link #fill} has put at {@link #off}; -1 at the end of the source; 0 if it must be called. */
    private int filled;
    private boolean closed;

    Feed(InputStream source) {
        if (source == null) {
            throw new NullPointerException("the stream to read from is null");
        }
        this.source = source;
    }

    /** Reads from the source. Blocks. */
    void fill() throws IOException {
        int n;
        do {
            n = source.read(into, off, len);
        } while (n == 0);
        filled = n;
    }

    @Override
    public int read(byte[] b, int at, int room) throws IOException {
        int n = filled;
        if (n == 0) {
            into = b;
            off = at;
            len = room;
            throw Empty.INSTANCE;
        }
        if (n > room) {
            throw new IOException("the decoder of this JDK asks for " + room + " bytes after it had asked for " + len);
        }
        filled = 0;
        if (n > 0 && (b != into || at != off)) {
            System.arraycopy(into, off, b, at, n);
        }
        into = null;
        return n;
    }

    @Override
    public int read() throws IOException {
        throw new IOException("the decoder of this JDK reads single bytes");
    }

    @Override
    public int available() {
        return 0;
    }

    void closeSource() throws IOException {
        if (!closed) {
            closed = true;
            source.close();
        }
    }
}
