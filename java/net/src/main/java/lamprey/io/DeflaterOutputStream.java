package lamprey.io;

import java.io.IOException;
import java.io.OutputStream;
import java.util.zip.Deflater;

/** {@link java.util.zip.DeflaterOutputStream} whose methods can be suspended. The JDK's code writes into a {@link Held}. */
public class DeflaterOutputStream extends java.util.zip.DeflaterOutputStream {
    private boolean closed;

    /** With a deflater of its own. */
    public DeflaterOutputStream(OutputStream out) {
        super(new Held(out));
    }

    /** With a deflater of its own. */
    public DeflaterOutputStream(OutputStream out, boolean syncFlush) {
        super(new Held(out), syncFlush);
    }

    /** With this deflater, which the caller ends. */
    public DeflaterOutputStream(OutputStream out, Deflater def) {
        super(new Held(out), def);
    }

    /** With this deflater, which the caller ends. */
    public DeflaterOutputStream(OutputStream out, Deflater def, boolean syncFlush) {
        super(new Held(out), def, syncFlush);
    }

    /** @throws IllegalArgumentException if {@code size} is not positive */
    public DeflaterOutputStream(OutputStream out, Deflater def, int size) {
        super(new Held(out), def, size);
    }

    /** @throws IllegalArgumentException if {@code size} is not positive */
    public DeflaterOutputStream(OutputStream out, Deflater def, int size, boolean syncFlush) {
        super(new Held(out), def, size, syncFlush);
    }

    private Held held() {
        return (Held) out;
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] b) throws IOException {
        write(b, 0, b.length);
    }

    @Override
    public void write(byte[] b, int off, int len) throws IOException {
        super.write(b, off, len);
        held().drain();
    }

    @Override
    public void finish() throws IOException {
        super.finish();
        held().drain();
    }

    @Override
    public void flush() throws IOException {
        super.flush();
        held().flushAll();
    }

    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        try {
            // What the JDK's code finishes afterwards, from within, has nothing to write.
            finish();
        } finally {
            super.close();
            held().closeAll();
        }
    }
}
