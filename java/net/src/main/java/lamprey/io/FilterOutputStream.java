package lamprey.io;

import java.io.IOException;
import java.io.OutputStream;

/** {@link java.io.FilterOutputStream} whose methods can be suspended. */
public class FilterOutputStream extends java.io.FilterOutputStream {
    private volatile boolean closed;

    /** Writes to {@code out}. */
    public FilterOutputStream(OutputStream out) {
        super(out);
    }

    @Override
    public void write(int b) throws IOException {
        out.write(b);
    }

    @Override
    public void write(byte[] b) throws IOException {
        write(b, 0, b.length);
    }

    @Override
    public void write(byte[] b, int off, int len) throws IOException {
        Streams.check(b.length, off, len);
        for (int i = 0; i < len; i++) {
            write(b[off + i]);
        }
    }

    @Override
    public void flush() throws IOException {
        out.flush();
    }

    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        closeAfterFlush(this, out);
    }

    /** Flushes {@code outer} and closes {@code inner}, also if flushing fails; of two failures the one of closing is thrown, with the other suppressed, as in the JDK since 9. */
    static void closeAfterFlush(OutputStream outer, OutputStream inner) throws IOException {
        Throwable failure = null;
        try {
            outer.flush();
        } catch (Throwable t) {
            failure = t;
            throw t;
        } finally {
            if (failure == null) {
                inner.close();
            } else {
                try {
                    inner.close();
                } catch (Throwable t) {
                    if (t != failure) {
                        t.addSuppressed(failure);
                    }
                    throw t;
                }
            }
        }
    }
}
