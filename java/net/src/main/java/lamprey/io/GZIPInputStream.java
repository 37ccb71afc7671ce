package lamprey.io;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.zip.ZipException;

/**
 * {@link java.util.zip.GZIPInputStream} whose methods, and whose constructors, which read the header, can be suspended. The JDK's constructor is given a
 * header of ours, and the bytes go through an {@link InflaterInputStream} with the same inflater.
 */
public class GZIPInputStream extends java.util.zip.GZIPInputStream {
    /** Whether this JDK waits for a member behind the end of one. Older ones look only for what is there already; which, their version does not say. */
    private static final boolean WAITS = waits();

    private final InflaterInputStream inflated;
    private boolean closed;

    /** Reads the header. Blocks. */
    public GZIPInputStream(InputStream in) throws IOException {
        this(in, 512);
    }

    /** Reads the header. Blocks. @throws IllegalArgumentException if {@code size} is not positive */
    public GZIPInputStream(InputStream in, int size) throws IOException {
        super(in == null ? null : new ByteArrayInputStream(GzipHeader.SHORTEST), size);
        this.in = in;
        inflated = new InflaterInputStream(in, inf, size);
        new GzipHeader(in).read();
    }

    /** Asks the JDK's class: two members, of which the second is not available yet. */
    private static boolean waits() {
        try {
            ByteArrayOutputStream two = new ByteArrayOutputStream();
            for (int i = 0; i < 2; i++) {
                java.util.zip.GZIPOutputStream out = new java.util.zip.GZIPOutputStream(two);
                out.write(i);
                out.finish();
            }
            InputStream bytewise = new ByteArrayInputStream(two.toByteArray()) {
                @Override
                public synchronized int read(byte[] b, int off, int len) {
                    return super.read(b, off, Math.min(len, 1));
                }

                @Override
                public synchronized int available() {
                    return 0;
                }
            };
            java.util.zip.GZIPInputStream in = new java.util.zip.GZIPInputStream(bytewise);
            return in.read() == 0 && in.read() == 1;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
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
        while (!eos) {
            int n = inflated.read(b, off, count);
            if (n >= 0) {
                crc.update(b, off, n);
                return n;
            }
            eos = !nextMember();
        }
        return -1;
    }

    /** Checks the trailer; whether another member follows, whose header has then been read. */
    private boolean nextMember() throws IOException {
        int from = inflated.remainder();
        ByteArrayInputStream rest = new ByteArrayInputStream(inflated.buffer(), from, inflated.filled() - from);
        InputStream source = rest.available() == 0 ? in : new SequenceInputStream(rest, new Unclosed(in));
        if (four(source) != crc.getValue() || four(source) != (inf.getBytesWritten() & 0xffffffffL)) {
            throw new ZipException("Corrupt GZIP trailer");
        }
        if (!WAITS && in.available() <= 0 && rest.available() <= 18) {
            return false;
        }
        try {
            new GzipHeader(source).read();
        } catch (IOException notOne) {
            return false;
        }
        crc.reset();
        inf.reset();
        int unused = rest.available();
        if (unused > 0) {
            inf.setInput(inflated.buffer(), inflated.filled() - unused, unused);
        }
        return true;
    }

    private static long four(InputStream in) throws IOException {
        long value = 0;
        for (int shift = 0; shift < 32; shift += 8) {
            int b = in.read();
            if (b < 0) {
                throw new EOFException();
            }
            value |= (long) b << shift;
        }
        return value;
    }

    /** The stream behind the buffer, which a sequence must not close. */
    private static final class Unclosed extends FilterInputStream {
        Unclosed(InputStream in) {
            super(in);
        }

        @Override
        public void close() {}
    }

    @Override
    public int available() throws IOException {
        open();
        return eos ? 0 : inflated.available();
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
            in = new ByteArrayInputStream(new byte[0]);
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
