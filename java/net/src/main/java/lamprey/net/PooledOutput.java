package lamprey.net;

import java.io.IOException;
import lamprey.io.OutputStream;

/** A stream of the JDK that blocks kernel threads: it is written in one of a pool, while the light thread waits. */
final class PooledOutput extends OutputStream {
    private final java.io.OutputStream out;

    PooledOutput(java.io.OutputStream out) {
        this.out = out;
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] b, int off, int len) throws IOException {
        Http.inPool(() -> {
            out.write(b, off, len);
            return null;
        });
    }

    @Override
    public void flush() throws IOException {
        Http.inPool(() -> {
            out.flush();
            return null;
        });
    }

    @Override
    public void close() throws IOException {
        Http.inPool(() -> {
            out.close();
            return null;
        });
    }
}
