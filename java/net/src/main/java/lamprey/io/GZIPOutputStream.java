package lamprey.io;

import java.io.IOException;
import java.io.OutputStream;

/** {@link java.util.zip.GZIPOutputStream} whose methods can be suspended. The JDK's code writes into a {@link Held}. */
public class GZIPOutputStream extends java.util.zip.GZIPOutputStream {
    private boolean closed;

    /** Writes the header with the first bytes. */
    public GZIPOutputStream(OutputStream out) throws IOException {
        super(new Held(out));
    }

    /** @throws IllegalArgumentException if {@code size} is not positive */
    public GZIPOutputStream(OutputStream out, int size) throws IOException {
        super(new Held(out), size);
    }

    /** Writes the header with the first bytes. */
    public GZIPOutputStream(OutputStream out, boolean syncFlush) throws IOException {
        super(new Held(out), syncFlush);
    }

    /** @throws IllegalArgumentException if {@code size} is not positive */
    public GZIPOutputStream(OutputStream out, int size, boolean syncFlush) throws IOException {
        super(new Held(out), size, syncFlush);
    }

    private Held held() {
        return (Held) out;
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] b) throws IOException {
        write(b, 0, b.length);
    }

    @Override
    public void write(byte[] b, int off, int len) throws IOException {
        super.write(b, off, len);
        held().drain();
    }

    @Override
    public void finish() throws IOException {
        super.finish();
        held().drain();
    }

    @Override
    public void flush() throws IOException {
        super.flush();
        held().flushAll();
    }

    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        try {
            // What the JDK's code finishes afterwards, from within, has nothing to write.
            finish();
        } finally {
            super.close();
            held().closeAll();
        }
    }
}
