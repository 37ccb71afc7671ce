package lamprey.io;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** {@link java.io.PushbackInputStream} whose methods can be suspended. */
public class PushbackInputStream extends java.io.PushbackInputStream {
    /** With room for one byte. */
    public PushbackInputStream(InputStream in) {
        super(in);
    }

    /** @throws IllegalArgumentException if {@code size} is not positive */
    public PushbackInputStream(InputStream in, int size) {
        super(in, size);
    }

    private void open() throws IOException {
        if (in == null) {
            throw new IOException("Stream closed");
        }
    }

    @Override
    public int read() throws IOException {
        open();
        return pos < buf.length ? buf[pos++] & 0xff : in.read();
    }

    @Override
    public int read(byte[] b) throws IOException {
        return read(b, 0, b.length);
    }

    @Override
    public int read(byte[] b, int off, int len) throws IOException {
        open();
        Streams.check(b.length, off, len);
        if (len == 0) {
            return 0;
        }
        int ours = Math.min(buf.length - pos, len);
        System.arraycopy(buf, pos, b, off, ours);
        pos += ours;
        if (ours == len) {
            return ours;
        }
        int more = in.read(b, off + ours, len - ours);
        return more < 0 ? (ours == 0 ? -1 : ours) : ours + more;
    }

    @Override
    public long skip(long n) throws IOException {
        open();
        if (n <= 0) {
            return 0;
        }
        long ours = Math.min(buf.length - pos, n);
        pos += (int) ours;
        return ours == n ? n : ours + in.skip(n - ours);
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
