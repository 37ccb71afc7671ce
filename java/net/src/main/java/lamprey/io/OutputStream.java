package lamprey.io;

import java.io.IOException;

/** The superclass of output streams in rewritten programs: {@link java.io.OutputStream} whose methods can be suspended. */
public abstract class OutputStream extends java.io.OutputStream {
    /** For subclasses. */
    public OutputStream() {}

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
}
