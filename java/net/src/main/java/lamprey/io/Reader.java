package lamprey.io;

import java.io.IOException;
import java.io.Writer;
import java.nio.CharBuffer;
import java.util.List;

/** The superclass of readers in rewritten programs: {@link java.io.Reader} whose methods can be suspended. */
public abstract class Reader extends java.io.Reader {
    /** Locks on itself. */
    protected Reader() {}

    /** Locks on {@code lock}. */
    protected Reader(Object lock) {
        super(lock);
    }

    @Override
    public int read() throws IOException {
        return Texts.read(this);
    }

    @Override
    public int read(char[] c) throws IOException {
        return read(c, 0, c.length);
    }

    @Override
    public int read(CharBuffer target) throws IOException {
        return Texts.read(this, target);
    }

    @Override
    public long skip(long n) throws IOException {
        return Texts.skip(this, n);
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
