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
}
