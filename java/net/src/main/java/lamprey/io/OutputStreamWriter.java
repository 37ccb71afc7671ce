package lamprey.io;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UnsupportedEncodingException;
import java.io.Writer;
import java.nio.charset.Charset;
import java.nio.charset.CharsetEncoder;
import lamprey.instrument.Monitors;

/**
 * {@link java.io.OutputStreamWriter} whose methods can be suspended: the JDK's encoder writes to a sink in memory, and this writes on what the sink
 * got. One light thread writes at a time.
 */
public class OutputStreamWriter extends java.io.OutputStreamWriter {
    /** So much is encoded at a time, so that the sink stays small. */
    private static final int CHUNK = 8192;

    private final Sinks.Bytes sink;
    private boolean closed;

    /** With the default character set. */
    public OutputStreamWriter(OutputStream out) {
        this(new Sinks.Bytes(out));
    }

    /** @throws UnsupportedEncodingException if there is no such character set */
    public OutputStreamWriter(OutputStream out, String charset) throws UnsupportedEncodingException {
        this(new Sinks.Bytes(out), charset);
    }

    /** With a character set. */
    public OutputStreamWriter(OutputStream out, Charset charset) {
        this(new Sinks.Bytes(out), charset);
    }

    /** With an encoder. */
    public OutputStreamWriter(OutputStream out, CharsetEncoder encoder) {
        this(new Sinks.Bytes(out), encoder);
    }

    private OutputStreamWriter(Sinks.Bytes sink) {
        super(sink);
        this.sink = sink;
    }

    private OutputStreamWriter(Sinks.Bytes sink, String charset) throws UnsupportedEncodingException {
        super(sink, charset);
        this.sink = sink;
    }

    private OutputStreamWriter(Sinks.Bytes sink, Charset charset) {
        super(sink, charset);
        this.sink = sink;
    }

    private OutputStreamWriter(Sinks.Bytes sink, CharsetEncoder encoder) {
        super(sink, encoder);
        this.sink = sink;
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
            Streams.check(c.length, off, len);
            int done = 0;
            do {
                int now = Math.min(CHUNK, len - done);
                super.write(c, off + done, now);
                sink.drain();
                done += now;
            } while (done < len);
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public void write(String s, int off, int len) throws IOException {
        write(s.substring(off, off + len).toCharArray(), 0, len);
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
            try (OutputStream out = sink.out) {
                super.close();
                sink.drain();
            }
        } finally {
            Monitors.exit(lock);
        }
    }
}
