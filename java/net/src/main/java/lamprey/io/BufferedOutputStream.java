package lamprey.io;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import lamprey.instrument.Monitors;

/** {@link java.io.BufferedOutputStream} whose methods can be suspended. The buffer grows up to its size. */
public class BufferedOutputStream extends java.io.BufferedOutputStream {
    private static final int FIRST = 512;

    private final int size;
    private volatile boolean closed;

    /** With a buffer of 8192 bytes. */
    public BufferedOutputStream(OutputStream out) {
        this(out, 8192);
    }

    /** @throws IllegalArgumentException if {@code size} is not positive */
    public BufferedOutputStream(OutputStream out, int size) {
        super(out, Math.min(size, FIRST));
        this.size = size;
    }

    private void drain() throws IOException {
        if (count > 0) {
            out.write(buf, 0, count);
            count = 0;
        }
    }

    private void room(int len) {
        if (len > buf.length - count && buf.length < size) {
            buf = Arrays.copyOf(buf, (int) Math.min(size, Math.max(buf.length * 2L, (long) count + len)));
        }
    }

    @Override
    public void write(int b) throws IOException {
        Monitors.enter(this);
        try {
            room(1);
            if (count >= buf.length) {
                drain();
            }
            buf[count++] = (byte) b;
        } finally {
            Monitors.exit(this);
        }
    }

    @Override
    public void write(byte[] b) throws IOException {
        write(b, 0, b.length);
    }

    @Override
    public void write(byte[] b, int off, int len) throws IOException {
        Monitors.enter(this);
        try {
            if (len >= size) {
                drain();
                out.write(b, off, len);
                return;
            }
            room(len);
            if (len > buf.length - count) {
                drain();
            }
            System.arraycopy(b, off, buf, count, len);
            count += len;
        } finally {
            Monitors.exit(this);
        }
    }

    @Override
    public void flush() throws IOException {
        Monitors.enter(this);
        try {
            drain();
            out.flush();
        } finally {
            Monitors.exit(this);
        }
    }

    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        FilterOutputStream.closeAfterFlush(this, out);
    }
}
