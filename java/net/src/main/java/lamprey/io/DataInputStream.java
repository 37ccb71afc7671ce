package lamprey.io;

import java.io.DataInput;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UTFDataFormatException;

/**
 * Takes the place of {@link java.io.DataInputStream}, whose methods are final, in rewritten programs (the name is replaced everywhere). Its
 * methods do the same and can be suspended.
 */
public class DataInputStream extends FilterInputStream implements DataInput {
    private final byte[] few = new byte[8];

    /** Reads from {@code in}. */
    public DataInputStream(InputStream in) {
        super(in);
    }

    @Override
    public final int read() throws IOException {
        return in.read();
    }

    @Override
    public final int read(byte[] b) throws IOException {
        return in.read(b, 0, b.length);
    }

    @Override
    public final int read(byte[] b, int off, int len) throws IOException {
        return in.read(b, off, len);
    }

    @Override
    public final void readFully(byte[] b) throws IOException {
        readFully(b, 0, b.length);
    }

    @Override
    public final void readFully(byte[] b, int off, int len) throws IOException {
        Streams.check(b.length, off, len);
        int n = 0;
        while (n < len) {
            int count = in.read(b, off + n, len - n);
            if (count < 0) {
                throw new EOFException();
            }
            n += count;
        }
    }

    @Override
    public final int skipBytes(int n) throws IOException {
        int total = 0;
        int now;
        while (total < n && (now = (int) in.skip(n - total)) > 0) {
            total += now;
        }
        return total;
    }

    @Override
    public final boolean readBoolean() throws IOException {
        return readUnsignedByte() != 0;
    }

    @Override
    public final byte readByte() throws IOException {
        return (byte) readUnsignedByte();
    }

    @Override
    public final int readUnsignedByte() throws IOException {
        int b = in.read();
        if (b < 0) {
            throw new EOFException();
        }
        return b;
    }

    @Override
    public final short readShort() throws IOException {
        return (short) readUnsignedShort();
    }

    @Override
    public final int readUnsignedShort() throws IOException {
        readFully(few, 0, 2);
        return (few[0] & 0xff) << 8 | few[1] & 0xff;
    }

    @Override
    public final char readChar() throws IOException {
        return (char) readUnsignedShort();
    }

    @Override
    public final int readInt() throws IOException {
        readFully(few, 0, 4);
        return intAt(0);
    }

    private int intAt(int i) {
        return few[i] << 24 | (few[i + 1] & 0xff) << 16 | (few[i + 2] & 0xff) << 8 | few[i + 3] & 0xff;
    }

    @Override
    public final long readLong() throws IOException {
        readFully(few, 0, 8);
        return (long) intAt(0) << 32 | intAt(4) & 0xffffffffL;
    }

    @Override
    public final float readFloat() throws IOException {
        return Float.intBitsToFloat(readInt());
    }

    @Override
    public final double readDouble() throws IOException {
        return Double.longBitsToDouble(readLong());
    }

    @Override
    @Deprecated
    public final String readLine() throws IOException {
        StringBuilder line = new StringBuilder();
        int c = in.read();
        if (c < 0) {
            return null;
        }
        while (c >= 0 && c != '\n') {
            if (c == '\r') {
                int next = in.read();
                if (next != '\n' && next != -1) {
                    if (!(in instanceof java.io.PushbackInputStream)) {
                        in = new PushbackInputStream(in);
                    }
                    ((java.io.PushbackInputStream) in).unread(next);
                }
                break;
            }
            line.append((char) c);
            c = in.read();
        }
        return line.toString();
    }

    @Override
    public final String readUTF() throws IOException {
        return readUTF(this);
    }

    /** Reads a string in modified UTF-8. */
    public static final String readUTF(DataInput in) throws IOException {
        byte[] bytes = new byte[in.readUnsignedShort()];
        in.readFully(bytes, 0, bytes.length);
        char[] chars = new char[bytes.length];
        int n = 0;
        int i = 0;
        while (i < bytes.length) {
            int c = bytes[i] & 0xff;
            int length = c < 0x80 ? 1 : c >> 5 == 6 ? 2 : c >> 4 == 14 ? 3 : 0;
            if (length == 0) {
                throw new UTFDataFormatException("malformed input around byte " + i);
            }
            if (i + length > bytes.length) {
                throw new UTFDataFormatException("malformed input: partial character at end");
            }
            for (int k = 1; k < length; k++) {
                if ((bytes[i + k] & 0xc0) != 0x80) {
                    throw new UTFDataFormatException("malformed input around byte " + (i + k));
                }
            }
            chars[n++] = (char) (length == 1 ? c : length == 2 ? (c & 0x1f) << 6 | bytes[i + 1] & 0x3f
                : (c & 0x0f) << 12 | (bytes[i + 1] & 0x3f) << 6 | bytes[i + 2] & 0x3f);
            i += length;
        }
        return new String(chars, 0, n);
    }
}
