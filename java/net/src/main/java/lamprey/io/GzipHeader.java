package lamprey.io;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.CRC32;
import java.util.zip.ZipException;

/** Reads the head of a member of a gzip file (RFC 1952), and counts its bytes. Blocks as {@code in} does. */
final class GzipHeader {
    private static final int CHECKSUM = 2;
    private static final int EXTRA = 4;
    private static final int NAME = 8;
    private static final int COMMENT = 16;
    /** The shortest head, for the JDK's constructor. */
    static final byte[] SHORTEST = {31, (byte) 139, 8, 0, 0, 0, 0, 0, 0, 0};

    private final InputStream in;
    private final CRC32 sum = new CRC32();

    GzipHeader(InputStream in) {
        this.in = in;
    }

    void read() throws IOException {
        if (two() != 0x8b1f) {
            throw new ZipException("Not in GZIP format");
        }
        if (one() != 8) {
            throw new ZipException("Unsupported compression method");
        }
        int flags = one();
        skip(6);
        if ((flags & EXTRA) != 0) {
            skip(two());
        }
        if ((flags & NAME) != 0) {
            skipText();
        }
        if ((flags & COMMENT) != 0) {
            skipText();
        }
        if ((flags & CHECKSUM) != 0) {
            int expected = (int) sum.getValue() & 0xffff;
            if (two() != expected) {
                throw new ZipException("Corrupt GZIP header");
            }
        }
    }

    private int one() throws IOException {
        int b = in.read();
        if (b < 0) {
            throw new EOFException();
        }
        sum.update(b);
        return b;
    }

    private int two() throws IOException {
        int low = one();
        return one() << 8 | low;
    }

    private void skip(int n) throws IOException {
        for (int i = 0; i < n; i++) {
            one();
        }
    }

    private void skipText() throws IOException {
        while (one() != 0) {
            // The next one.
        }
    }
}
