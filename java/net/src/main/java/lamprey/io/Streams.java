package lamprey.io;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The methods of {@link InputStream} and {@link OutputStream} that only call others. The JDK's own forms would stand between two transformed
 * methods, so each stream of this package overrides them with these. They block as the read or write that they call.
 */
final class Streams {
    private static final int CHUNK = 8192;
    private static final int MAX_ARRAY = Integer.MAX_VALUE - 8;

    private Streams() {}

    static void check(int length, int off, int len) {
        if ((off | len | (off + len) | (length - (off + len))) < 0) {
            throw new IndexOutOfBoundsException("offset " + off + ", count " + len + ", length " + length);
        }
    }

    static byte[] readAllBytes(InputStream in) throws IOException {
        return readNBytes(in, Integer.MAX_VALUE);
    }

    static byte[] readNBytes(InputStream in, int len) throws IOException {
        if (len < 0) {
            throw new IllegalArgumentException("len < 0");
        }
        if (len == 0) {
            in.read(new byte[0], 0, 0);
        }
        List<byte[]> full = new ArrayList<>();
        byte[] chunk = new byte[Math.min(len, CHUNK)];
        int used = 0;
        int total = 0;
        while (total < len) {
            int n = in.read(chunk, used, Math.min(chunk.length - used, len - total));
            if (n < 0) {
                break;
            }
            if (n > MAX_ARRAY - total) {
                throw new OutOfMemoryError("Required array size too large");
            }
            total += n;
            used += n;
            if (used == chunk.length && total < len) {
                full.add(chunk);
                chunk = new byte[CHUNK];
                used = 0;
            }
        }
        return join(full, chunk, used, total);
    }

    private static byte[] join(List<byte[]> full, byte[] last, int usedOfLast, int total) {
        if (full.isEmpty()) {
            return usedOfLast == last.length ? last : Arrays.copyOf(last, usedOfLast);
        }
        byte[] all = new byte[total];
        int at = 0;
        for (byte[] chunk : full) {
            System.arraycopy(chunk, 0, all, at, chunk.length);
            at += chunk.length;
        }
        System.arraycopy(last, 0, all, at, usedOfLast);
        return all;
    }

    static int readNBytes(InputStream in, byte[] b, int off, int len) throws IOException {
        check(b.length, off, len);
        int n = 0;
        while (n < len) {
            int count = in.read(b, off + n, len - n);
            if (count < 0) {
                break;
            }
            n += count;
        }
        return n;
    }

    static long transferTo(InputStream in, OutputStream out) throws IOException {
        if (out == null) {
            throw new NullPointerException("out");
        }
        long total = 0;
        byte[] buffer = new byte[CHUNK];
        int n;
        while ((n = in.read(buffer, 0, CHUNK)) >= 0) {
            out.write(buffer, 0, n);
            total += n;
        }
        return total;
    }

    /** Reads and forgets up to {@code n} bytes. */
    static long skip(InputStream in, long n) throws IOException {
        if (n <= 0) {
            return 0;
        }
        byte[] buffer = new byte[(int) Math.min(2048, n)];
        long left = n;
        while (left > 0) {
            int count = in.read(buffer, 0, (int) Math.min(buffer.length, left));
            if (count < 0) {
                break;
            }
            left -= count;
        }
        return n - left;
    }

    /** As the JDK's inflating streams skip: at most {@code Integer.MAX_VALUE} bytes, in small pieces. */
    static long skipInflated(InputStream in, long n) throws IOException {
        byte[] scratch = new byte[(int) Math.min(n, 512)];
        long left = Math.min(n, Integer.MAX_VALUE);
        long skipped = 0;
        while (skipped < left) {
            int now = in.read(scratch, 0, (int) Math.min(left - skipped, scratch.length));
            if (now < 0) {
                break;
            }
            skipped += now;
        }
        return skipped;
    }

    static void skipNBytes(InputStream in, long n) throws IOException {
        long left = n;
        while (left > 0) {
            long skipped = in.skip(left);
            if (skipped > 0 && skipped <= left) {
                left -= skipped;
            } else if (skipped == 0) {
                if (in.read() < 0) {
                    throw new EOFException();
                }
                left--;
            } else {
                throw new IOException("Unable to skip exactly");
            }
        }
    }

    /** Reads by {@code read()}, byte by byte, as {@link InputStream#read(byte[], int, int)} does. */
    static int read(InputStream in, byte[] b, int off, int len) throws IOException {
        check(b.length, off, len);
        if (len == 0) {
            return 0;
        }
        int first = in.read();
        if (first < 0) {
            return -1;
        }
        b[off] = (byte) first;
        int n = 1;
        try {
            for (; n < len; n++) {
                int next = in.read();
                if (next < 0) {
                    break;
                }
                b[off + n] = (byte) next;
            }
        } catch (IOException e) {
            // What has been read is returned; the next read meets the failure again.
        }
        return n;
    }
}
