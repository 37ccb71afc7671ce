package lamprey.io;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Writer;

/**
 * Where the writers of the JDK write to, so that they never block: memory, which their subclasses in this package then write on. A call of {@code flush} is
 * noted and done after that. What is in a sink belongs to whoever holds the writer's monitor.
 */
final class Sinks {
    /** A larger array is given up after use. */
    private static final int KEEP = 16384;

    private Sinks() {}

    /** Of bytes. */
    static final class Bytes extends ByteArrayOutputStream {
        final OutputStream out;
        private boolean flushed;

        Bytes(OutputStream out) {
            super(32);
            if (out == null) {
                throw new NullPointerException("Null output stream");
            }
            this.out = out;
        }

        @Override
        public void flush() {
            flushed = true;
        }

        /** Writes on what is there, which stays if that fails, and flushes if that was asked for. Blocks. */
        void drain() throws IOException {
            int n = count;
            if (n > 0) {
                out.write(buf, 0, n);
                count = 0;
                if (buf.length > KEEP) {
                    buf = new byte[32];
                }
            }
            if (flushed) {
                flushed = false;
                out.flush();
            }
        }

        /** Forgets what could not be written; flushes if that was asked for. Blocks. */
        void giveUp() throws IOException {
            count = 0;
            if (flushed) {
                flushed = false;
                out.flush();
            }
        }
    }

    /** Of characters. */
    static final class Chars extends Writer {
        final Writer out;
        private char[] chars = new char[32];
        private int count;
        private boolean flushed;

        Chars(Writer out) {
            super(out);
            this.out = out;
        }

        @Override
        public void write(int c) {
            room(1);
            chars[count++] = (char) c;
        }

        @Override
        public void write(char[] c, int off, int len) {
            Streams.check(c.length, off, len);
            room(len);
            System.arraycopy(c, off, chars, count, len);
            count += len;
        }

        @Override
        public void write(String s, int off, int len) {
            room(len);
            s.getChars(off, off + len, chars, count);
            count += len;
        }

        private void room(int len) {
            if (len > chars.length - count) {
                chars = java.util.Arrays.copyOf(chars, Math.max(chars.length * 2, count + len));
            }
        }

        @Override
        public void flush() {
            flushed = true;
        }

        @Override
        public void close() {}

        /** Writes on what is there, which stays if that fails, and flushes if that was asked for. Blocks. */
        void drain() throws IOException {
            int n = count;
            if (n > 0) {
                out.write(chars, 0, n);
                count = 0;
                if (chars.length > KEEP) {
                    chars = new char[32];
                }
            }
            if (flushed) {
                flushed = false;
                out.flush();
            }
        }
    }
}
