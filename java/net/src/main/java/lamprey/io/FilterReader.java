package lamprey.io;

import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.CharBuffer;
import java.util.List;

/** {@link java.io.FilterReader} whose methods can be suspended. */
public abstract class FilterReader extends java.io.FilterReader {
    /** Reads from {@code in}. */
    protected FilterReader(Reader in) {
        super(in);
    }

    @Override
    public int read() throws IOException {
        return in.read();
    }

    @Override
    public int read(char[] c, int off, int len) throws IOException {
        return in.read(c, off, len);
    }

    @Override
    public long skip(long n) throws IOException {
        return in.skip(n);
    }

    @Override
    public boolean ready() throws IOException {
        return in.ready();
    }

    @Override
    public void mark(int limit) throws IOException {
        in.mark(limit);
    }

    @Override
    public void reset() throws IOException {
        in.reset();
    }

    @Override
    public void close() throws IOException {
        in.close();
    }

    @Override
    public int read(char[] c) throws IOException {
        return read(c, 0, c.length);
    }

    @Override
    public int read(CharBuffer target) throws IOException {
        return Texts.read(this, target);
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
