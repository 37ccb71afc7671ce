package lamprey.io;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import java.util.zip.ZipException;

/** {@link java.util.zip.InflaterInputStream} whose methods can be suspended. */
public class InflaterInputStream extends java.util.zip.InflaterInputStream {
    /** What the JDK's code closes, so that it does not call the program's stream. */
    private static final InputStream NOTHING = new java.io.ByteArrayInputStream(new byte[0]);

    private boolean closed;
    private boolean ended;

    /** With an inflater of its own. */
    public InflaterInputStream(InputStream in) {
        super(in);
    }

    /** With this inflater, which the caller ends. */
    public InflaterInputStream(InputStream in, Inflater inf) {
        super(in, inf);
    }

    /** @throws IllegalArgumentException if {@code size} is not positive */
    public InflaterInputStream(InputStream in, Inflater inf, int size) {
        super(in, inf, size);
    }

    private void open() throws IOException {
        if (closed) {
            throw new IOException("Stream closed");
        }
    }

    @Override
    public int read() throws IOException {
        open();
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] b) throws IOException {
        return read(b, 0, b.length);
    }

    @Override
    public int read(byte[] b, int off, int count) throws IOException {
        open();
        Streams.check(b.length, off, count);
        if (count == 0) {
            return 0;
        }
        try {
            for (;;) {
                int n = inf.inflate(b, off, count);
                if (n > 0) {
                    return n;
                }
                if (inf.finished() || inf.needsDictionary()) {
                    ended = true;
                    return -1;
                }
                if (inf.needsInput()) {
                    fill();
                }
            }
        } catch (DataFormatException e) {
            throw new ZipException(e.getMessage() != null ? e.getMessage() : "Invalid ZLIB data format");
        }
    }

    @Override
    protected void fill() throws IOException {
        open();
        len = in.read(buf, 0, buf.length);
        if (len < 0) {
            throw new EOFException("Unexpected end of ZLIB input stream");
        }
        inf.setInput(buf, 0, len);
    }

    /** What has been read and not used, from {@link #remainder()}. */
    byte[] buffer() {
        return buf;
    }

    int remainder() {
        return len - inf.getRemaining();
    }

    int filled() {
        return len;
    }

    @Override
    public int available() throws IOException {
        open();
        ended |= inf.finished();
        return ended ? 0 : 1;
    }

    @Override
    public long skip(long n) throws IOException {
        if (n < 0) {
            throw new IllegalArgumentException("negative skip length");
        }
        open();
        return Streams.skipInflated(this, n);
    }

    @Override
    public void close() throws IOException {
        if (!closed) {
            closed = true;
            InputStream inner = in;
            in = NOTHING;
            super.close();
            inner.close();
        }
    }

    /** Reads to the end. Blocks. */
    public byte[] readAllBytes() throws IOException {
        return Streams.readAllBytes(this);
    }

    /** Reads up to {@code n} bytes; fewer only at the end. Blocks. */
    public byte[] readNBytes(int n) throws IOException {
        return Streams.readNBytes(this, n);
    }

    /** Reads up to {@code n} bytes; fewer only at the end. Blocks. */
    public int readNBytes(byte[] b, int off, int n) throws IOException {
        return Streams.readNBytes(this, b, off, n);
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
