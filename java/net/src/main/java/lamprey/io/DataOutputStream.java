package lamprey.io;

import java.io.DataOutput;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UTFDataFormatException;

/**
 * Takes the place of {@link java.io.DataOutputStream}, whose methods are final, in rewritten programs (the name is replaced everywhere). Its
 * methods do the same and can be suspended.
 */
public class DataOutputStream extends FilterOutputStream implements DataOutput {
    /** Bytes written so far; stays at the largest int. */
    protected int written;
    private final byte[] few = new byte[8];

    /** Writes to {@code out}. */
    public DataOutputStream(OutputStream out) {
        super(out);
    }

    private void count(int n) {
        written = written + n < 0 ? Integer.MAX_VALUE : written + n;
    }

    @Override
    public void write(int b) throws IOException {
        out.write(b);
        count(1);
    }

    @Override
    public void write(byte[] b, int off, int len) throws IOException {
        out.write(b, off, len);
        count(len);
    }

    @Override
    public void flush() throws IOException {
        out.flush();
    }

    @Override
    public final void writeBoolean(boolean v) throws IOException {
        writeByte(v ? 1 : 0);
    }

    @Override
    public final void writeByte(int v) throws IOException {
        out.write(v);
        count(1);
    }

    @Override
    public final void writeShort(int v) throws IOException {
        few[0] = (byte) (v >>> 8);
        few[1] = (byte) v;
        out.write(few, 0, 2);
        count(2);
    }

    @Override
    public final void writeChar(int v) throws IOException {
        writeShort(v);
    }

    @Override
    public final void writeInt(int v) throws IOException {
        put(0, v);
        out.write(few, 0, 4);
        count(4);
    }

    private void put(int at, int v) {
        few[at] = (byte) (v >>> 24);
        few[at + 1] = (byte) (v >>> 16);
        few[at + 2] = (byte) (v >>> 8);
        few[at + 3] = (byte) v;
    }

    @Override
    public final void writeLong(long v) throws IOException {
        put(0, (int) (v >>> 32));
        put(4, (int) v);
        out.write(few, 0, 8);
        count(8);
    }

    @Override
    public final void writeFloat(float v) throws IOException {
        writeInt(Float.floatToIntBits(v));
    }

    @Override
    public final void writeDouble(double v) throws IOException {
        writeLong(Double.doubleToLongBits(v));
    }

    @Override
    public final void writeBytes(String s) throws IOException {
        byte[] bytes = new byte[s.length()];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) s.charAt(i);
        }
        out.write(bytes, 0, bytes.length);
        count(bytes.length);
    }

    @Override
    public final void writeChars(String s) throws IOException {
        byte[] bytes = new byte[2 * s.length()];
        for (int i = 0; i < s.length(); i++) {
            bytes[2 * i] = (byte) (s.charAt(i) >>> 8);
            bytes[2 * i + 1] = (byte) s.charAt(i);
        }
        out.write(bytes, 0, bytes.length);
        count(bytes.length);
    }

    @Override
    public final void writeUTF(String s) throws IOException {
        long length = 0;
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            length += c >= 1 && c <= 0x7f ? 1 : c <= 0x7ff ? 2 : 3;
        }
        if (length > 65535) {
            throw new UTFDataFormatException("encoded string is too long: " + length + " bytes, at most 65535 can be written");
        }
        byte[] bytes = new byte[(int) length + 2];
        int n = 0;
        bytes[n++] = (byte) (length >>> 8);
        bytes[n++] = (byte) length;
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (c >= 1 && c <= 0x7f) {
                bytes[n++] = (byte) c;
            } else if (c <= 0x7ff) {
                bytes[n++] = (byte) (0xc0 | c >> 6);
                bytes[n++] = (byte) (0x80 | c & 0x3f);
            } else {
                bytes[n++] = (byte) (0xe0 | c >> 12);
                bytes[n++] = (byte) (0x80 | c >> 6 & 0x3f);
                bytes[n++] = (byte) (0x80 | c & 0x3f);
            }
        }
        write(bytes, 0, n);
    }

    /** Bytes written so far. */
    public final int size() {
        return written;
    }
}
