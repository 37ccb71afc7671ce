package lamprey.io;

import java.io.IOException;

/** The superclass of writers in rewritten programs: {@link java.io.Writer} whose methods can be suspended. */
public abstract class Writer extends java.io.Writer {
    /** Locks on itself. */
    protected Writer() {}

    /** Locks on {@code lock}. */
    protected Writer(Object lock) {
        super(lock);
    }

    @Override
    public void write(int c) throws IOException {
        write(new char[] {(char) c}, 0, 1);
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
    public void write(String s, int off, int len) throws IOException {
        write(s.substring(off, off + len).toCharArray(), 0, len);
    }

    @Override
    public java.io.Writer append(CharSequence s) throws IOException {
        write(String.valueOf(s));
        return this;
    }

    @Override
    public java.io.Writer append(CharSequence s, int start, int end) throws IOException {
        write(Texts.text(s, start, end));
        return this;
    }

    @Override
    public java.io.Writer append(char c) throws IOException {
        write(c);
        return this;
    }
}
