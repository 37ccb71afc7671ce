package lamprey.net;

import java.io.IOException;
import lamprey.io.InputStream;

/** A stream of the JDK that blocks kernel threads: it is read in one of a pool, while the light thread waits. */
final class PooledInput extends InputStream {
    private final java.io.InputStream in;

    PooledInput(java.io.InputStream in) {
        this.in = in;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] b, int off, int len) throws IOException {
        return Http.inPool(() -> in.read(b, off, len));
    }

    @Override
    public int available() throws IOException {
        return in.available();
    }

    @Override
    public void close() throws IOException {
        Http.inPool(() -> {
            in.close();
            return null;
        });
    }
}
