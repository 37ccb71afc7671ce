package lamprey.io;

import java.io.IOException;
import java.io.InputStream;
import java.util.zip.Checksum;

/** {@link java.util.zip.CheckedInputStream} whose methods can be suspended. What has been read, or skipped, is in the checksum. */
public class CheckedInputStream extends java.util.zip.CheckedInputStream {
    /** Reads from {@code in}. */
    public CheckedInputStream(InputStream in, Checksum checksum) {
        super(in, checksum);
    }

    @Override
    public int read() throws IOException {
        int b = in.read();
        if (b >= 0) {
            getChecksum().update(b);
        }
        return b;
    }

    @Override
    public int read(byte[] b) throws IOException {
        return read(b, 0, b.length);
    }

    @Override
    public int read(byte[] b, int off, int len) throws IOException {
        int n = in.read(b, off, len);
        if (n > 0) {
            getChecksum().update(b, off, n);
        }
        return n;
    }

    @Override
    public long skip(long n) throws IOException {
        return Streams.skip(this, n);
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
    public void mark(int limit) {
        in.mark(limit);
    }

    @Override
    public void reset() throws IOException {
        in.reset();
    }

    @Override
    public boolean markSupported() {
        return in.markSupported();
    }

    /** As the JDK's from 9 on. */
    public byte[] readAllBytes() throws IOException {
        return Streams.readAllBytes(this);
    }

    /** As the JDK's from 11 on. */
    public byte[] readNBytes(int len) throws IOException {
        return Streams.readNBytes(this, len);
    }

    /** As the JDK's from 9 on. */
    public int readNBytes(byte[] b, int off, int len) throws IOException {
        return Streams.readNBytes(this, b, off, len);
    }

    /** As the JDK's from 12 on. */
    public void skipNBytes(long n) throws IOException {
        Streams.skipNBytes(this, n);
    }

    /** As the JDK's from 9 on. */
    public long transferTo(java.io.OutputStream out) throws IOException {
        return Streams.transferTo(this, out);
    }
}
