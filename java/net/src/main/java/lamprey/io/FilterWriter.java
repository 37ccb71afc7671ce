package lamprey.io;

import java.io.IOException;
import java.io.Writer;

/** {@link java.io.FilterWriter} whose methods can be suspended. */
public abstract class FilterWriter extends java.io.FilterWriter {
    /** Writes to {@code out}. */
    protected FilterWriter(Writer out) {
        super(out);
    }

    @Override
    public void write(int c) throws IOException {
        out.write(c);
    }

    @Override
    public void write(char[] c, int off, int len) throws IOException {
        out.write(c, off, len);
    }

    @Override
    public void write(String s, int off, int len) throws IOException {
        out.write(s, off, len);
    }

    @Override
    public void flush() throws IOException {
        out.flush();
    }

    @Override
    public void close() throws IOException {
        out.close();
    }

    @Override
    public void write(char[] c) throws IOException {
        write(c, 0, c.length);
    }

    @Override
    public void write(String s) throws IOException {
        write(s, 0, s.length());
    }

    @Override
    public Writer append(CharSequence s) throws IOException {
        write(String.valueOf(s));
        return this;
    }

    @Override
    public Writer append(CharSequence s, int start, int end) throws IOException {
        write(Texts.text(s, start, end));
        return this;
    }

    @Override
    public Writer append(char c) throws IOException {
        write(c);
        return this;
    }
}
