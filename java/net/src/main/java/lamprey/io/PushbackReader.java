package lamprey.io;

import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.CharBuffer;
import java.util.List;
import lamprey.instrument.Monitors;

/** {@link java.io.PushbackReader} whose methods can be suspended. One light thread reads at a time (the monitor of the reader below). */
public class PushbackReader extends java.io.PushbackReader {
    /** Null when it is closed. */
    private char[] pushed;
    /** Where the pushed characters begin. */
    private int next;

    /** With room for one character. */
    public PushbackReader(Reader in) {
        this(in, 1);
    }

    /** @throws IllegalArgumentException if {@code size} is not positive */
    public PushbackReader(Reader in, int size) {
        super(in, Math.min(size, 1));
        pushed = new char[size];
        next = size;
    }

    private void open() throws IOException {
        if (pushed == null) {
            throw new IOException("Stream closed");
        }
    }

    @Override
    public int read() throws IOException {
        Monitors.enter(lock);
        try {
            open();
            return next < pushed.length ? pushed[next++] : in.read();
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public int read(char[] c) throws IOException {
        return read(c, 0, c.length);
    }

    @Override
    public int read(char[] c, int off, int len) throws IOException {
        Monitors.enter(lock);
        try {
            open();
            Streams.check(c.length, off, len);
            if (len == 0) {
                return 0;
            }
            int ours = Math.min(pushed.length - next, len);
            System.arraycopy(pushed, next, c, off, ours);
            next += ours;
            if (ours == len) {
                return ours;
            }
            int more = in.read(c, off + ours, len - ours);
            return more < 0 ? (ours == 0 ? -1 : ours) : ours + more;
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public int read(CharBuffer target) throws IOException {
        return Texts.read(this, target);
    }

    @Override
    public void unread(int c) throws IOException {
        unread(new char[] {(char) c}, 0, 1);
    }

    @Override
    public void unread(char[] c) throws IOException {
        unread(c, 0, c.length);
    }

    @Override
    public void unread(char[] c, int off, int len) throws IOException {
        Monitors.enter(lock);
        try {
            open();
            if (len > next) {
                throw new IOException("Pushback buffer overflow");
            }
            System.arraycopy(c, off, pushed, next - len, len);
            next -= len;
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public boolean ready() throws IOException {
        Monitors.enter(lock);
        try {
            open();
            return next < pushed.length || in.ready();
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public long skip(long n) throws IOException {
        if (n < 0) {
            throw new IllegalArgumentException("skip value is negative");
        }
        Monitors.enter(lock);
        try {
            open();
            int ours = (int) Math.min(pushed.length - next, n);
            next += ours;
            return ours == n ? n : ours + in.skip(n - ours);
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public void close() throws IOException {
        Monitors.enter(lock);
        try {
            pushed = null;
            in.close();
        } finally {
            Monitors.exit(lock);
        }
    }

    /** Writes all that is left to {@code out}. Blocks. */
    public long transferTo(Writer out) throws IOException {
        return Texts.transferTo(this, out);
    }

    /** Reads to the end. Blocks. */
    public String readAllAsString() throws IOException {
        return Texts.readAllAsString(this);
    }

    /** Reads to the end, as lines. Blocks. */
    public List<String> readAllLines() throws IOException {
        return Texts.readAllLines(this);
    }
}
