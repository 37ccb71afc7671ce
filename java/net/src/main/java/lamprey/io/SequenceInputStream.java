package lamprey.io;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.Collections;
import java.util.Enumeration;

/** {@link java.io.SequenceInputStream} whose methods can be suspended. */
public class SequenceInputStream extends java.io.SequenceInputStream {
    private final Enumeration<? extends InputStream> rest;
    private InputStream in;

    /** One after the other. */
    public SequenceInputStream(Enumeration<? extends InputStream> all) {
        super(Collections.<InputStream>emptyEnumeration());
        rest = all;
        step();
    }

    /** One after the other. */
    public SequenceInputStream(InputStream first, InputStream second) {
        this(Collections.enumeration(Arrays.asList(first, second)));
    }

    private void step() {
        in = null;
        if (rest.hasMoreElements()) {
            in = rest.nextElement();
            if (in == null) {
                throw new NullPointerException("a stream of the sequence is null");
            }
        }
    }

    private void next() throws IOException {
        if (in != null) {
            in.close();
        }
        step();
    }

    @Override
    public int available() throws IOException {
        return in == null ? 0 : in.available();
    }

    @Override
    public int read() throws IOException {
        while (in != null) {
            int c = in.read();
            if (c >= 0) {
                return c;
            }
            next();
        }
        return -1;
    }

    @Override
    public int read(byte[] b) throws IOException {
        return read(b, 0, b.length);
    }

    @Override
    public int read(byte[] b, int off, int len) throws IOException {
        if (in == null) {
            return -1;
        }
        Streams.check(b.length, off, len);
        if (len == 0) {
            return 0;
        }
        do {
            int n = in.read(b, off, len);
            if (n > 0) {
                return n;
            }
            next();
        } while (in != null);
        return -1;
    }

    @Override
    public long skip(long n) throws IOException {
        return Streams.skip(this, n);
    }

    @Override
    public void close() throws IOException {
        while (in != null) {
            next();
        }
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
