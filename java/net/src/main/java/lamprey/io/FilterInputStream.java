package lamprey.io;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** {@link java.io.FilterInputStream} whose methods can be suspended. */
public class FilterInputStream extends java.io.FilterInputStream {
    /** Reads from {@code in}. */
    protected FilterInputStream(InputStream in) {
        super(in);
    }

    @Override
    public int read() throws IOException {
        return in.read();
    }

    @Override
    public int read(byte[] b) throws IOException {
        return read(b, 0, b.length);
    }

    @Override
    public int read(byte[] b, int off, int len) throws IOException {
        return in.read(b, off, len);
    }

    @Override
    public long skip(long n) throws IOException {
        return in.skip(n);
    }

    @Override
    public int available() throws IOException {
        return in.available();
    }

    @Override
    public void close() throws IOException {
        in.close();
    }

    @Override
    public void mark(int readlimit) {
        in.mark(readlimit);
    }

    @Override
    public void reset() throws IOException {
        in.reset();
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
