package lamprey.io;

import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.CharBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import lamprey.instrument.Monitors;

/**
 * {@link java.io.BufferedReader} whose methods can be suspended. {@link #lines()} reads to the end at once, as the methods of streams cannot be
 * suspended. One light thread reads at a time (the monitor of the reader below).
 */
public class BufferedReader extends java.io.BufferedReader {
    private static final int NOT_MARKED = -1;
    private static final int INVALID = -2;

    private Reader in;
    private final int size;
    private char[] chars = new char[0];
    private int next;
    private int end;
    private int marked = NOT_MARKED;
    private int limit;
    /** The last line ended with a carriage return: a line feed that follows belongs to it. */
    private boolean skipLineFeed;
    private boolean markedSkip;

    /** With a buffer of 8192 characters. */
    public BufferedReader(Reader in) {
        this(in, 8192);
    }

    /** @throws IllegalArgumentException if {@code size} is not positive */
    public BufferedReader(Reader in, int size) {
        super(in, Math.min(size, 1));
        this.in = in;
        this.size = size;
    }

    private void open() throws IOException {
        if (in == null) {
            throw new IOException("Stream closed");
        }
    }

    /** Reads into the buffer, behind what a mark still needs. Returns whether there are characters. */
    private boolean fill() throws IOException {
        if (chars.length == 0) {
            chars = new char[size];
        }
        int to = 0;
        if (marked >= 0) {
            int kept = next - marked;
            if (kept >= limit) {
                marked = INVALID;
                limit = 0;
            } else {
                char[] buffer = limit <= chars.length ? chars : new char[Math.max(limit, 1)];
                System.arraycopy(chars, marked, buffer, 0, kept);
                chars = buffer;
                marked = 0;
                to = kept;
                next = end = kept;
            }
        }
        int n;
        do {
            n = in.read(chars, to, chars.length - to);
        } while (n == 0);
        if (n > 0) {
            end = to + n;
            next = to;
        }
        return n > 0;
    }

    @Override
    public int read() throws IOException {
        Monitors.enter(lock);
        try {
            open();
            while (true) {
                if (next >= end && !fill()) {
                    return -1;
                }
                char c = chars[next++];
                if (!skipLineFeed || c != '\n') {
                    skipLineFeed = false;
                    return c;
                }
                skipLineFeed = false;
            }
        } finally {
            Monitors.exit(lock);
        }
    }

    private int readOnce(char[] c, int off, int len) throws IOException {
        if (next >= end) {
            if (len >= Math.max(size, chars.length) && marked < 0 && !skipLineFeed) {
                return in.read(c, off, len);
            }
            if (!fill()) {
                return -1;
            }
        }
        if (skipLineFeed) {
            skipLineFeed = false;
            if (chars[next] == '\n') {
                next++;
                if (next >= end && !fill()) {
                    return -1;
                }
            }
        }
        int n = Math.min(len, end - next);
        System.arraycopy(chars, next, c, off, n);
        next += n;
        return n;
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
            int n = readOnce(c, off, len);
            while (n > 0 && n < len && in.ready()) {
                int more = readOnce(c, off + n, len - n);
                if (more <= 0) {
                    break;
                }
                n += more;
            }
            return n;
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public int read(CharBuffer target) throws IOException {
        return Texts.read(this, target);
    }

    @Override
    public String readLine() throws IOException {
        Monitors.enter(lock);
        try {
            open();
            StringBuilder line = null;
            while (true) {
                if (next >= end && !fill()) {
                    return line != null && line.length() > 0 ? line.toString() : null;
                }
                if (skipLineFeed && chars[next] == '\n') {
                    next++;
                }
                skipLineFeed = false;
                int start = next;
                int i = start;
                while (i < end && chars[i] != '\n' && chars[i] != '\r') {
                    i++;
                }
                next = i;
                if (i < end) {
                    next++;
                    skipLineFeed = chars[i] == '\r';
                    return line == null ? new String(chars, start, i - start) : line.append(chars, start, i - start).toString();
                }
                if (line == null) {
                    line = new StringBuilder(80);
                }
                line.append(chars, start, i - start);
            }
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
            long left = n;
            while (left > 0 && (next < end || fill())) {
                if (skipLineFeed) {
                    skipLineFeed = false;
                    if (chars[next] == '\n') {
                        next++;
                    }
                }
                int now = (int) Math.min(left, end - next);
                next += now;
                left -= now;
            }
            return n - left;
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public boolean ready() throws IOException {
        Monitors.enter(lock);
        try {
            open();
            if (skipLineFeed) {
                if (next >= end && in.ready()) {
                    fill();
                }
                if (next < end) {
                    if (chars[next] == '\n') {
                        next++;
                    }
                    skipLineFeed = false;
                }
            }
            return next < end || in.ready();
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public void mark(int readAheadLimit) throws IOException {
        if (readAheadLimit < 0) {
            throw new IllegalArgumentException("Read-ahead limit < 0");
        }
        Monitors.enter(lock);
        try {
            open();
            limit = readAheadLimit;
            marked = next;
            markedSkip = skipLineFeed;
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public void reset() throws IOException {
        Monitors.enter(lock);
        try {
            open();
            if (marked < 0) {
                throw new IOException(marked == INVALID ? "Mark invalid" : "Stream not marked");
            }
            next = marked;
            skipLineFeed = markedSkip;
        } finally {
            Monitors.exit(lock);
        }
    }

    /** All lines up to the end, read before this returns. Blocks. */
    @Override
    public Stream<String> lines() {
        List<String> all = new ArrayList<>();
        try {
            String line;
            while ((line = readLine()) != null) {
                all.add(line);
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        return all.stream();
    }

    @Override
    public void close() throws IOException {
        Monitors.enter(lock);
        try {
            if (in != null) {
                try {
                    in.close();
                } finally {
                    in = null;
                    chars = new char[0];
                    next = end = 0;
                }
            }
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
