package lamprey.io;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/** What code of the JDK has written, which cannot be suspended; {@link #drain} writes it on. */
final class Held extends ByteArrayOutputStream {
    private final OutputStream to;

    Held(OutputStream to) {
        if (to == null) {
            throw new NullPointerException();
        }
        this.to = to;
    }

    /** Blocks. */
    void drain() throws IOException {
        if (count > 0) {
            byte[] bytes = toByteArray();
            reset();
            to.write(bytes, 0, bytes.length);
        }
    }

    void flushAll() throws IOException {
        drain();
        to.flush();
    }

    void closeAll() throws IOException {
        try {
            drain();
        } finally {
            to.close();
        }
    }
}
