package lamprey.io;

import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.concurrent.Callable;
import lamprey.Blocking;

/**
 * What rewritten programs call instead of the final methods of object streams, whose code is the JDK's and cannot be suspended: the call is made in a kernel
 * thread of a pool, whose reads and writes block that thread only, while the light thread waits. As long as the call lasts, {@code readObject} methods of
 * the program's classes run on that kernel thread.
 */
public final class ObjectStreams {
    private ObjectStreams() {}

    private static <T> T inPool(Callable<T> call) throws IOException {
        try {
            return Blocking.call(call);
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    /** For {@code new ObjectInputStream(in)}, which reads the head of the stream. Blocks. */
    public static ObjectInputStream input(java.io.InputStream in) throws IOException {
        return inPool(() -> new ObjectInputStream(in));
    }

    /** For {@link ObjectInputStream#readObject()}. Blocks. */
    public static Object readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
        return read(in::readObject);
    }

    /** For {@link ObjectInputStream#readUnshared()}. Blocks. */
    public static Object readUnshared(ObjectInputStream in) throws IOException, ClassNotFoundException {
        return read(in::readUnshared);
    }

    private static Object read(Callable<Object> call) throws IOException, ClassNotFoundException {
        try {
            return Blocking.call(call);
        } catch (IOException | ClassNotFoundException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    /** For {@link ObjectInputStream#readInt()}. Blocks. */
    public static int readInt(ObjectInputStream in) throws IOException {
        return inPool(in::readInt);
    }

    /** For {@link ObjectInputStream#readLong()}. Blocks. */
    public static long readLong(ObjectInputStream in) throws IOException {
        return inPool(in::readLong);
    }

    /** For {@link ObjectInputStream#readBoolean()}. Blocks. */
    public static boolean readBoolean(ObjectInputStream in) throws IOException {
        return inPool(in::readBoolean);
    }

    /** For {@link ObjectInputStream#readUTF()}. Blocks. */
    public static String readUTF(ObjectInputStream in) throws IOException {
        return inPool(in::readUTF);
    }

    /** For {@code new ObjectOutputStream(out)}. Blocks. */
    public static ObjectOutputStream output(java.io.OutputStream out) throws IOException {
        return inPool(() -> new ObjectOutputStream(out));
    }

    /** For {@link ObjectOutputStream#writeObject(Object)}. Blocks. */
    public static void writeObject(ObjectOutputStream out, Object value) throws IOException {
        inPool(() -> {
            out.writeObject(value);
            return null;
        });
    }

    /** For {@link ObjectOutputStream#writeUnshared(Object)}. Blocks. */
    public static void writeUnshared(ObjectOutputStream out, Object value) throws IOException {
        inPool(() -> {
            out.writeUnshared(value);
            return null;
        });
    }

    /** For {@link ObjectOutputStream#flush()}. Blocks. */
    public static void flush(ObjectOutputStream out) throws IOException {
        inPool(() -> {
            out.flush();
            return null;
        });
    }

    /** For {@link ObjectOutputStream#reset()}. Blocks. */
    public static void reset(ObjectOutputStream out) throws IOException {
        inPool(() -> {
            out.reset();
            return null;
        });
    }

    /** For {@link ObjectOutputStream#close()}. Blocks. */
    public static void close(ObjectOutputStream out) throws IOException {
        inPool(() -> {
            out.close();
            return null;
        });
    }

    /** For {@link ObjectInputStream#read()}. Blocks. */
    public static int read(ObjectInputStream in) throws IOException {
        return inPool(() -> in.read());
    }

    /** For {@link ObjectInputStream#read(byte[])}. Blocks. */
    public static int read(ObjectInputStream in, byte[] b) throws IOException {
        return inPool(() -> in.read(b));
    }

    /** For {@link ObjectInputStream#read(byte[], int, int)}. Blocks. */
    public static int read(ObjectInputStream in, byte[] b, int off, int len) throws IOException {
        return inPool(() -> in.read(b, off, len));
    }

    /** For {@link ObjectInputStream#readByte()}. Blocks. */
    public static byte readByte(ObjectInputStream in) throws IOException {
        return inPool(() -> in.readByte());
    }

    /** For {@link ObjectInputStream#readUnsignedByte()}. Blocks. */
    public static int readUnsignedByte(ObjectInputStream in) throws IOException {
        return inPool(() -> in.readUnsignedByte());
    }

    /** For {@link ObjectInputStream#readChar()}. Blocks. */
    public static char readChar(ObjectInputStream in) throws IOException {
        return inPool(() -> in.readChar());
    }

    /** For {@link ObjectInputStream#readShort()}. Blocks. */
    public static short readShort(ObjectInputStream in) throws IOException {
        return inPool(() -> in.readShort());
    }

    /** For {@link ObjectInputStream#readUnsignedShort()}. Blocks. */
    public static int readUnsignedShort(ObjectInputStream in) throws IOException {
        return inPool(() -> in.readUnsignedShort());
    }

    /** For {@link ObjectInputStream#readFloat()}. Blocks. */
    public static float readFloat(ObjectInputStream in) throws IOException {
        return inPool(() -> in.readFloat());
    }

    /** For {@link ObjectInputStream#readDouble()}. Blocks. */
    public static double readDouble(ObjectInputStream in) throws IOException {
        return inPool(() -> in.readDouble());
    }

    /** For {@link ObjectInputStream#readFully(byte[])}. Blocks. */
    public static void readFully(ObjectInputStream in, byte[] b) throws IOException {
        inPool(() -> {
            in.readFully(b);
            return null;
        });
    }

    /** For {@link ObjectInputStream#readFully(byte[], int, int)}. Blocks. */
    public static void readFully(ObjectInputStream in, byte[] b, int off, int len) throws IOException {
        inPool(() -> {
            in.readFully(b, off, len);
            return null;
        });
    }

    /** For {@link ObjectInputStream#skipBytes(int)}. Blocks. */
    public static int skipBytes(ObjectInputStream in, int n) throws IOException {
        return inPool(() -> in.skipBytes(n));
    }

    /** For {@link ObjectInputStream#readLine()}. Blocks. */
    @SuppressWarnings("deprecation")
    public static String readLine(ObjectInputStream in) throws IOException {
        return inPool(() -> in.readLine());
    }

    /** For {@link ObjectInputStream#close()}. Blocks. */
    public static void close(ObjectInputStream in) throws IOException {
        inPool(() -> {
            in.close();
            return null;
        });
    }

    /** For {@link ObjectOutputStream#write(int)}. Blocks. */
    public static void write(ObjectOutputStream out, int b) throws IOException {
        inPool(() -> {
            out.write(b);
            return null;
        });
    }

    /** For {@link ObjectOutputStream#write(byte[])}. Blocks. */
    public static void write(ObjectOutputStream out, byte[] b) throws IOException {
        inPool(() -> {
            out.write(b);
            return null;
        });
    }

    /** For {@link ObjectOutputStream#write(byte[], int, int)}. Blocks. */
    public static void write(ObjectOutputStream out, byte[] b, int off, int len) throws IOException {
        inPool(() -> {
            out.write(b, off, len);
            return null;
        });
    }

    /** For {@link ObjectOutputStream#writeBoolean(boolean)}. Blocks. */
    public static void writeBoolean(ObjectOutputStream out, boolean v) throws IOException {
        inPool(() -> {
            out.writeBoolean(v);
            return null;
        });
    }

    /** For {@link ObjectOutputStream#writeByte(int)}. Blocks. */
    public static void writeByte(ObjectOutputStream out, int v) throws IOException {
        inPool(() -> {
            out.writeByte(v);
            return null;
        });
    }

    /** For {@link ObjectOutputStream#writeShort(int)}. Blocks. */
    public static void writeShort(ObjectOutputStream out, int v) throws IOException {
        inPool(() -> {
            out.writeShort(v);
            return null;
        });
    }

    /** For {@link ObjectOutputStream#writeChar(int)}. Blocks. */
    public static void writeChar(ObjectOutputStream out, int v) throws IOException {
        inPool(() -> {
            out.writeChar(v);
            return null;
        });
    }

    /** For {@link ObjectOutputStream#writeInt(int)}. Blocks. */
    public static void writeInt(ObjectOutputStream out, int v) throws IOException {
        inPool(() -> {
            out.writeInt(v);
            return null;
        });
    }

    /** For {@link ObjectOutputStream#writeLong(long)}. Blocks. */
    public static void writeLong(ObjectOutputStream out, long v) throws IOException {
        inPool(() -> {
            out.writeLong(v);
            return null;
        });
    }

    /** For {@link ObjectOutputStream#writeFloat(float)}. Blocks. */
    public static void writeFloat(ObjectOutputStream out, float v) throws IOException {
        inPool(() -> {
            out.writeFloat(v);
            return null;
        });
    }

    /** For {@link ObjectOutputStream#writeDouble(double)}. Blocks. */
    public static void writeDouble(ObjectOutputStream out, double v) throws IOException {
        inPool(() -> {
            out.writeDouble(v);
            return null;
        });
    }

    /** For {@link ObjectOutputStream#writeBytes(String)}. Blocks. */
    public static void writeBytes(ObjectOutputStream out, String s) throws IOException {
        inPool(() -> {
            out.writeBytes(s);
            return null;
        });
    }

    /** For {@link ObjectOutputStream#writeChars(String)}. Blocks. */
    public static void writeChars(ObjectOutputStream out, String s) throws IOException {
        inPool(() -> {
            out.writeChars(s);
            return null;
        });
    }

    /** For {@link ObjectOutputStream#writeUTF(String)}. Blocks. */
    public static void writeUTF(ObjectOutputStream out, String s) throws IOException {
        inPool(() -> {
            out.writeUTF(s);
            return null;
        });
    }
}
