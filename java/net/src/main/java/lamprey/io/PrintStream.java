package lamprey.io;

import java.io.File;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.io.UnsupportedEncodingException;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.UnsupportedCharsetException;
import java.util.Locale;
import lamprey.PicoThread;
import lamprey.instrument.Monitors;

/**
 * {@link java.io.PrintStream} whose methods can be suspended: the JDK's writes to a sink in memory, and this writes on what the sink got, at the
 * end of each call from outside. As there, no method throws: failures are kept for {@link #checkError}. Each call is atomic (this object's monitor).
 */
public class PrintStream extends java.io.PrintStream {
    private final Sinks.Bytes sink;
    /** The JDK's method runs, and what it calls here must not write on. Guarded by the monitor. */
    private boolean inside;
    private boolean closed;

    /** Writes to {@code out}. */
    public PrintStream(OutputStream out) {
        this(out, false);
    }

    /** Flushes after each line and each array of bytes, if {@code autoFlush}. */
    public PrintStream(OutputStream out, boolean autoFlush) {
        this(new Sinks.Bytes(out), autoFlush);
    }

    /** @throws UnsupportedEncodingException if there is no such character set */
    public PrintStream(OutputStream out, boolean autoFlush, String charset) throws UnsupportedEncodingException {
        this(new Sinks.Bytes(out), autoFlush, charset);
    }

    /** With a character set. */
    public PrintStream(OutputStream out, boolean autoFlush, Charset charset) throws UnsupportedEncodingException {
        this(new Sinks.Bytes(out), autoFlush, charset.name());
    }

    /** Writes to a file. */
    public PrintStream(String file) throws FileNotFoundException {
        this(new FileOutputStream(file));
    }

    /** Writes to a file. */
    public PrintStream(String file, String charset) throws FileNotFoundException, UnsupportedEncodingException {
        this(new File(file), charset);
    }

    /** Writes to a file. */
    public PrintStream(String file, Charset charset) throws IOException {
        this(new FileOutputStream(file), false, charset);
    }

    /** Writes to a file. */
    public PrintStream(File file) throws FileNotFoundException {
        this(new FileOutputStream(file));
    }

    /** Writes to a file. */
    public PrintStream(File file, String charset) throws FileNotFoundException, UnsupportedEncodingException {
        this(new FileOutputStream(file), false, charset(charset).name());
    }

    /** Writes to a file. */
    public PrintStream(File file, Charset charset) throws IOException {
        this(new FileOutputStream(file), false, charset);
    }

    private PrintStream(Sinks.Bytes sink, boolean autoFlush) {
        super(sink, autoFlush);
        this.sink = sink;
    }

    private PrintStream(Sinks.Bytes sink, boolean autoFlush, String charset) throws UnsupportedEncodingException {
        super(sink, autoFlush, charset);
        this.sink = sink;
    }

    static Charset charset(String name) throws UnsupportedEncodingException {
        if (name == null) {
            throw new NullPointerException("charsetName");
        }
        try {
            return Charset.forName(name);
        } catch (IllegalCharsetNameException | UnsupportedCharsetException e) {
            throw new UnsupportedEncodingException(name);
        }
    }

    private boolean begin() {
        Monitors.enter(this);
        boolean outer = !inside;
        inside = true;
        return outer;
    }

    private void end(boolean outer) {
        try {
            if (outer) {
                // Still inside: no method of this object is called by the stream below, and others wait for the monitor.
                writeOn();
            }
        } finally {
            if (outer) {
                inside = false;
            }
            Monitors.exit(this);
        }
    }

    private void writeOn() {
        try {
            sink.drain();
        } catch (IOException e) {
            failed(e);
            try {
                sink.giveUp();
            } catch (IOException again) {
                failed(again);
            }
        }
    }

    private void failed(IOException e) {
        if (e instanceof InterruptedIOException) {
            PicoThread.currentThread().interrupt();
        } else {
            setError();
        }
    }

    @Override
    public boolean checkError() {
        if (!closed) {
            flush();
        }
        boolean ours;
        boolean outer = begin();
        try {
            ours = super.checkError();
        } finally {
            end(outer);
        }
        return sink.out instanceof java.io.PrintStream ? ((java.io.PrintStream) sink.out).checkError() : ours;
    }

    @Override
    public void close() {
        boolean first = false;
        boolean outer = begin();
        try {
            first = !closed;
            closed = true;
            super.close();
        } finally {
            end(outer);
        }
        if (first) {
            try {
                sink.out.close();
            } catch (IOException e) {
                setError();
            }
        }
    }

    @Override
    public void flush() {
        boolean outer = begin();
        try {
            super.flush();
        } finally {
            end(outer);
        }
    }

    @Override
    public void write(int b) {
        boolean outer = begin();
        try {
            super.write(b);
        } finally {
            end(outer);
        }
    }

    @Override
    public void write(byte[] b, int off, int len) {
        boolean outer = begin();
        try {
            super.write(b, off, len);
        } finally {
            end(outer);
        }
    }

    @Override
    public void write(byte[] b) throws IOException {
        write(b, 0, b.length);
    }

    /** Writes all bytes. Blocks. */
    public void writeBytes(byte[] b) {
        write(b, 0, b.length);
    }

    @Override
    public void print(boolean x) {
        boolean outer = begin();
        try {
            super.print(x);
        } finally {
            end(outer);
        }
    }

    @Override
    public void print(char x) {
        boolean outer = begin();
        try {
            super.print(x);
        } finally {
            end(outer);
        }
    }

    @Override
    public void print(int x) {
        boolean outer = begin();
        try {
            super.print(x);
        } finally {
            end(outer);
        }
    }

    @Override
    public void print(long x) {
        boolean outer = begin();
        try {
            super.print(x);
        } finally {
            end(outer);
        }
    }

    @Override
    public void print(float x) {
        boolean outer = begin();
        try {
            super.print(x);
        } finally {
            end(outer);
        }
    }

    @Override
    public void print(double x) {
        boolean outer = begin();
        try {
            super.print(x);
        } finally {
            end(outer);
        }
    }

    @Override
    public void print(char[] x) {
        boolean outer = begin();
        try {
            super.print(x);
        } finally {
            end(outer);
        }
    }

    @Override
    public void print(String x) {
        boolean outer = begin();
        try {
            super.print(x);
        } finally {
            end(outer);
        }
    }

    @Override
    public void print(Object x) {
        boolean outer = begin();
        try {
            super.print(x);
        } finally {
            end(outer);
        }
    }

    @Override
    public void println() {
        boolean outer = begin();
        try {
            super.println();
        } finally {
            end(outer);
        }
    }

    @Override
    public void println(boolean x) {
        boolean outer = begin();
        try {
            super.println(x);
        } finally {
            end(outer);
        }
    }

    @Override
    public void println(char x) {
        boolean outer = begin();
        try {
            super.println(x);
        } finally {
            end(outer);
        }
    }

    @Override
    public void println(int x) {
        boolean outer = begin();
        try {
            super.println(x);
        } finally {
            end(outer);
        }
    }

    @Override
    public void println(long x) {
        boolean outer = begin();
        try {
            super.println(x);
        } finally {
            end(outer);
        }
    }

    @Override
    public void println(float x) {
        boolean outer = begin();
        try {
            super.println(x);
        } finally {
            end(outer);
        }
    }

    @Override
    public void println(double x) {
        boolean outer = begin();
        try {
            super.println(x);
        } finally {
            end(outer);
        }
    }

    @Override
    public void println(char[] x) {
        boolean outer = begin();
        try {
            super.println(x);
        } finally {
            end(outer);
        }
    }

    @Override
    public void println(String x) {
        boolean outer = begin();
        try {
            super.println(x);
        } finally {
            end(outer);
        }
    }

    @Override
    public void println(Object x) {
        boolean outer = begin();
        try {
            super.println(x);
        } finally {
            end(outer);
        }
    }

    @Override
    public java.io.PrintStream printf(String format, Object... args) {
        return format(format, args);
    }

    @Override
    public java.io.PrintStream printf(Locale l, String format, Object... args) {
        return format(l, format, args);
    }

    @Override
    public java.io.PrintStream format(String format, Object... args) {
        return format(Locale.getDefault(Locale.Category.FORMAT), format, args);
    }

    @Override
    public java.io.PrintStream format(Locale l, String format, Object... args) {
        boolean outer = begin();
        try {
            super.format(l, format, args);
        } finally {
            end(outer);
        }
        return this;
    }

    @Override
    public java.io.PrintStream append(CharSequence s) {
        print(String.valueOf(s));
        return this;
    }

    @Override
    public java.io.PrintStream append(CharSequence s, int start, int end) {
        print(Texts.text(s, start, end));
        return this;
    }

    @Override
    public java.io.PrintStream append(char c) {
        print(c);
        return this;
    }
}
