package lamprey.io;

import java.io.IOException;
import java.io.Writer;
import lamprey.instrument.Monitors;

/**
 * {@link java.io.BufferedWriter} whose methods can be suspended: the JDK's writes to a sink in memory, and this writes on what the sink got. One light
 * thread writes at a time (the monitor of the writer below).
 */
public class BufferedWriter extends java.io.BufferedWriter {
    private final Sinks.Chars sink;
    private boolean closed;

    /** With a buffer of 8192 characters. */
    public BufferedWriter(Writer out) {
        this(new Sinks.Chars(out), 8192);
    }

    /** @throws IllegalArgumentException if {@code size} is not positive */
    public BufferedWriter(Writer out, int size) {
        this(new Sinks.Chars(out), size);
    }

    private BufferedWriter(Sinks.Chars sink, int size) {
        super(sink, size);
        this.sink = sink;
        this.lock = sink.out;
    }

    @Override
    public void write(int c) throws IOException {
        Monitors.enter(lock);
        try {
            super.write(c);
            sink.drain();
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public void write(char[] c, int off, int len) throws IOException {
        Monitors.enter(lock);
        try {
            super.write(c, off, len);
            sink.drain();
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public void write(String s, int off, int len) throws IOException {
        Monitors.enter(lock);
        try {
            super.write(s, off, len);
            sink.drain();
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public void newLine() throws IOException {
        write(System.lineSeparator());
    }

    @Override
    public void flush() throws IOException {
        Monitors.enter(lock);
        try {
            super.flush();
            sink.drain();
        } finally {
            Monitors.exit(lock);
        }
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

    @Override
    @SuppressWarnings("try") // the resource is only closed
    public void close() throws IOException {
        Monitors.enter(lock);
        try {
            if (closed) {
                return;
            }
            closed = true;
            try (Writer out = sink.out) {
                super.close();
                sink.drain();
            }
        } finally {
            Monitors.exit(lock);
        }
    }
}
