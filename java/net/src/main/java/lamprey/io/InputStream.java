package lamprey.io;

import java.io.IOException;
import java.io.OutputStream;

/** The superclass of input streams in rewritten programs: {@link java.io.InputStream} whose methods can be suspended. */
public abstract class InputStream extends java.io.InputStream {
    /** For subclasses. */
    public InputStream() {}

    @Override
    public int read(byte[] b) throws IOException {
        return read(b, 0, b.length);
    }

    @Override
    public int read(byte[] b, int off, int len) throws IOException {
        return Streams.read(this, b, off, len);
    }

    @Override
    public long skip(long n) throws IOException {
        return Streams.skip(this, n);
    }

    /** Reads to the end. Blocks. */
    public byte[] readAllBytes() throws IOException {
        return Streams.readAllBytes(this);
    }

    /** Reads up to {@code len} bytes; fewer only at the end. Blocks. */
    public byte[] readNBytes(int len) throws IOException {
        return Streams.readNBytes(this, len);
    }

    /** Reads up to {@code len} bytes; fewer only at the end. Blocks. */
    public int readNBytes(byte[] b, int off, int len) throws IOException {
        return Streams.readNBytes(this, b, off, len);
    }

    /** Writes all that is left to {@code out}. Blocks. */
    public long transferTo(OutputStream out) throws IOException {
        return Streams.transferTo(this, out);
    }

    /** Skips exactly {@code n} bytes. Blocks. */
    public void skipNBytes(long n) throws IOException {
        Streams.skipNBytes(this, n);
    }
}
