package lamprey.io;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;
import lamprey.instrument.Monitors;

/**
 * {@link java.io.BufferedInputStream} whose methods can be suspended. The buffer is allocated by the first read. One light thread reads at a time
 * (the monitor of this object); {@link #close} needs no monitor, so that it wakes a reader.
 */
public class BufferedInputStream extends java.io.BufferedInputStream {
    private static final byte[] NONE = new byte[0];
    private static final int MAX_ARRAY = Integer.MAX_VALUE - 8;

    private final int size;

    /** With a buffer of 8192 bytes. */
    public BufferedInputStream(InputStream in) {
        this(in, 8192);
    }

    /** @throws IllegalArgumentException if {@code size} is not positive */
    public BufferedInputStream(InputStream in, int size) {
        super(in, Math.min(size, 1));
        this.size = size;
        buf = NONE;
    }

    private InputStream source() throws IOException {
        InputStream source = in;
        if (source == null) {
            throw new IOException("Stream closed");
        }
        return source;
    }

    private byte[] buffer() throws IOException {
        byte[] buffer = buf;
        if (buffer == null) {
            throw new IOException("Stream closed");
        }
        return buffer;
    }

    /** Reads into the buffer, behind what a mark still needs. */
    private void fill() throws IOException {
        byte[] buffer = buffer();
        if (buffer == NONE) {
            buffer = new byte[size];
            replace(NONE, buffer);
        }
        if (markpos < 0) {
            pos = 0;
        } else if (pos >= buffer.length) {
            buffer = makeRoom(buffer);
        }
        count = pos;
        int n = source().read(buffer, pos, buffer.length - pos);
        buffer();
        if (n > 0) {
            count = pos + n;
        }
    }

    private byte[] makeRoom(byte[] buffer) throws IOException {
        if (markpos > 0) {
            int kept = pos - markpos;
            System.arraycopy(buffer, markpos, buffer, 0, kept);
            pos = kept;
            markpos = 0;
        } else if (buffer.length >= marklimit) {
            markpos = -1;
            pos = 0;
        } else {
            int wanted = pos <= MAX_ARRAY - pos ? pos * 2 : MAX_ARRAY;
            byte[] larger = Arrays.copyOf(buffer, Math.min(wanted, marklimit));
            replace(buffer, larger);
            return larger;
        }
        return buffer;
    }

    /** A plain monitor, held for a moment: {@link #close} may be called by another kernel thread. */
    private void replace(byte[] old, byte[] by) throws IOException {
        synchronized (this) {
            if (buf != old) {
                throw new IOException("Stream closed");
            }
            buf = by;
        }
    }

    @Override
    public int read() throws IOException {
        Monitors.enter(this);
        try {
            if (pos >= count) {
                fill();
                if (pos >= count) {
                    return -1;
                }
            }
            return buffer()[pos++] & 0xff;
        } finally {
            Monitors.exit(this);
        }
    }

    private int readOnce(byte[] b, int off, int len) throws IOException {
        if (pos >= count) {
            if (len >= Math.max(size, buffer().length) && markpos < 0) {
                return source().read(b, off, len);
            }
            fill();
            if (pos >= count) {
                return -1;
            }
        }
        int n = Math.min(count - pos, len);
        System.arraycopy(buffer(), pos, b, off, n);
        pos += n;
        return n;
    }

    @Override
    public int read(byte[] b) throws IOException {
        return read(b, 0, b.length);
    }

    @Override
    public int read(byte[] b, int off, int len) throws IOException {
        Monitors.enter(this);
        try {
            buffer();
            Streams.check(b.length, off, len);
            if (len == 0) {
                return 0;
            }
            int n = 0;
            while (true) {
                int more = readOnce(b, off + n, len - n);
                if (more <= 0) {
                    return n == 0 ? more : n;
                }
                n += more;
                if (n >= len) {
                    return n;
                }
                InputStream source = in;
                if (source != null && source.available() <= 0) {
                    return n;
                }
            }
        } finally {
            Monitors.exit(this);
        }
    }

    @Override
    public long skip(long n) throws IOException {
        Monitors.enter(this);
        try {
            buffer();
            if (n <= 0) {
                return 0;
            }
            if (pos >= count) {
                if (markpos < 0) {
                    return source().skip(n);
                }
                fill();
                if (pos >= count) {
                    return 0;
                }
            }
            long skipped = Math.min(count - pos, n);
            pos += (int) skipped;
            return skipped;
        } finally {
            Monitors.exit(this);
        }
    }

    @Override
    public int available() throws IOException {
        Monitors.enter(this);
        try {
            int ours = count - pos;
            int more = source().available();
            return ours > Integer.MAX_VALUE - more ? Integer.MAX_VALUE : ours + more;
        } finally {
            Monitors.exit(this);
        }
    }

    @Override
    public void mark(int readlimit) {
        Monitors.enter(this);
        try {
            marklimit = readlimit;
            markpos = pos;
        } finally {
            Monitors.exit(this);
        }
    }

    @Override
    public void reset() throws IOException {
        Monitors.enter(this);
        try {
            buffer();
            if (markpos < 0) {
                throw new IOException("Resetting to invalid mark");
            }
            pos = markpos;
        } finally {
            Monitors.exit(this);
        }
    }

    @Override
    public void close() throws IOException {
        InputStream source;
        synchronized (this) {
            source = in;
            in = null;
            buf = null;
        }
        if (source != null) {
            source.close();
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
