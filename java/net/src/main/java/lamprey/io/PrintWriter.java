package lamprey.io;

import java.io.File;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.io.UnsupportedEncodingException;
import java.io.Writer;
import java.nio.charset.Charset;
import java.util.Locale;
import lamprey.PicoThread;
import lamprey.instrument.Monitors;

/**
 * {@link java.io.PrintWriter} whose methods can be suspended. As there, no method throws: failures are kept for {@link #checkError}. Each call is
 * atomic (the monitor of the writer below).
 */
public class PrintWriter extends java.io.PrintWriter {
    private final boolean flushesLines;
    private final java.io.PrintStream stream;
    private volatile boolean trouble;

    /** Writes to {@code out}. */
    public PrintWriter(Writer out) {
        this(out, false);
    }

    /** Flushes after each {@code println} and {@code format}, if {@code autoFlush}. */
    public PrintWriter(Writer out, boolean autoFlush) {
        this(out, autoFlush, null);
    }

    /** Writes to {@code out}, buffered. */
    public PrintWriter(OutputStream out) {
        this(out, false);
    }

    /** Writes to {@code out}, buffered. */
    public PrintWriter(OutputStream out, boolean autoFlush) {
        this(new BufferedWriter(new OutputStreamWriter(out)), autoFlush, out instanceof java.io.PrintStream ? (java.io.PrintStream) out : null);
    }

    /** Writes to {@code out}, buffered. */
    public PrintWriter(OutputStream out, boolean autoFlush, Charset charset) {
        this(new BufferedWriter(new OutputStreamWriter(out, charset)), autoFlush,
            out instanceof java.io.PrintStream ? (java.io.PrintStream) out : null);
    }

    /** Writes to a file. */
    public PrintWriter(String file) throws FileNotFoundException {
        this(new FileOutputStream(file));
    }

    /** Writes to a file. */
    public PrintWriter(String file, String charset) throws FileNotFoundException, UnsupportedEncodingException {
        this(new File(file), charset);
    }

    /** Writes to a file. */
    public PrintWriter(String file, Charset charset) throws IOException {
        this(new FileOutputStream(file), false, charset);
    }

    /** Writes to a file. */
    public PrintWriter(File file) throws FileNotFoundException {
        this(new FileOutputStream(file));
    }

    /** Writes to a file. */
    public PrintWriter(File file, String charset) throws FileNotFoundException, UnsupportedEncodingException {
        this(new FileOutputStream(file), false, PrintStream.charset(charset));
    }

    /** Writes to a file. */
    public PrintWriter(File file, Charset charset) throws IOException {
        this(new FileOutputStream(file), false, charset);
    }

    private PrintWriter(Writer out, boolean autoFlush, java.io.PrintStream stream) {
        super(out, autoFlush);
        this.flushesLines = autoFlush;
        this.stream = stream;
    }

    private Writer open() throws IOException {
        if (out == null) {
            throw new IOException("Stream closed");
        }
        return out;
    }

    private void failed(IOException e) {
        if (e instanceof InterruptedIOException) {
            PicoThread.currentThread().interrupt();
        } else {
            trouble = true;
        }
    }

    @Override
    public void flush() {
        Monitors.enter(lock);
        try {
            open().flush();
        } catch (IOException e) {
            trouble = true;
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public void close() {
        Monitors.enter(lock);
        try {
            if (out != null) {
                out.close();
                out = null;
            }
        } catch (IOException e) {
            trouble = true;
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public boolean checkError() {
        Writer now = out;
        if (now != null) {
            flush();
        }
        if (now instanceof java.io.PrintWriter) {
            return ((java.io.PrintWriter) now).checkError();
        }
        return stream != null ? stream.checkError() : trouble;
    }

    @Override
    protected void setError() {
        trouble = true;
    }

    @Override
    protected void clearError() {
        trouble = false;
    }

    @Override
    public void write(int c) {
        Monitors.enter(lock);
        try {
            open().write(c);
        } catch (IOException e) {
            failed(e);
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public void write(char[] c, int off, int len) {
        Monitors.enter(lock);
        try {
            open().write(c, off, len);
        } catch (IOException e) {
            failed(e);
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public void write(String s, int off, int len) {
        Monitors.enter(lock);
        try {
            open().write(s, off, len);
        } catch (IOException e) {
            failed(e);
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public void write(char[] c) {
        write(c, 0, c.length);
    }

    @Override
    public void write(String s) {
        write(s, 0, s.length());
    }

    @Override
    public void println() {
        Monitors.enter(lock);
        try {
            open().write(System.lineSeparator());
            if (flushesLines) {
                out.flush();
            }
        } catch (IOException e) {
            failed(e);
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public void print(boolean x) {
        write(String.valueOf(x));
    }

    @Override
    public void print(char x) {
        write(x);
    }

    @Override
    public void print(int x) {
        write(String.valueOf(x));
    }

    @Override
    public void print(long x) {
        write(String.valueOf(x));
    }

    @Override
    public void print(float x) {
        write(String.valueOf(x));
    }

    @Override
    public void print(double x) {
        write(String.valueOf(x));
    }

    @Override
    public void print(char[] x) {
        write(x);
    }

    @Override
    public void print(String x) {
        write(String.valueOf(x));
    }

    @Override
    public void print(Object x) {
        write(String.valueOf(x));
    }

    @Override
    public void println(boolean x) {
        Monitors.enter(lock);
        try {
            print(x);
            println();
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public void println(char x) {
        Monitors.enter(lock);
        try {
            print(x);
            println();
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public void println(int x) {
        Monitors.enter(lock);
        try {
            print(x);
            println();
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public void println(long x) {
        Monitors.enter(lock);
        try {
            print(x);
            println();
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public void println(float x) {
        Monitors.enter(lock);
        try {
            print(x);
            println();
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public void println(double x) {
        Monitors.enter(lock);
        try {
            print(x);
            println();
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public void println(char[] x) {
        Monitors.enter(lock);
        try {
            print(x);
            println();
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public void println(String x) {
        Monitors.enter(lock);
        try {
            print(x);
            println();
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public void println(Object x) {
        String text = String.valueOf(x);
        Monitors.enter(lock);
        try {
            print(text);
            println();
        } finally {
            Monitors.exit(lock);
        }
    }

    @Override
    public java.io.PrintWriter printf(String format, Object... args) {
        return format(format, args);
    }

    @Override
    public java.io.PrintWriter printf(Locale l, String format, Object... args) {
        return format(l, format, args);
    }

    @Override
    public java.io.PrintWriter format(String format, Object... args) {
        return format(Locale.getDefault(Locale.Category.FORMAT), format, args);
    }

    @Override
    public java.io.PrintWriter format(Locale l, String format, Object... args) {
        String text = String.format(l, format, args);
        Monitors.enter(lock);
        try {
            open().write(text);
            if (flushesLines) {
                out.flush();
            }
        } catch (IOException e) {
            failed(e);
        } finally {
            Monitors.exit(lock);
        }
        return this;
    }

    @Override
    public java.io.PrintWriter append(CharSequence s) {
        write(String.valueOf(s));
        return this;
    }

    @Override
    public java.io.PrintWriter append(CharSequence s, int start, int end) {
        write(Texts.text(s, start, end));
        return this;
    }

    @Override
    public java.io.PrintWriter append(char c) {
        write(c);
        return this;
    }
}
