package lamprey.io;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;

/** Methods of {@code InputStream} that JDK 8 does not have: called if the running JDK has them, else done with what it has. */
public final class Since9 {
    /** Whether the running JDK is newer than JDK 8. */
    static final boolean IS = !System.getProperty("java.specification.version").equals("1.8");

    private Since9() {}

    /** {@code in.readAllBytes()}. */
    public static byte[] readAllBytes(InputStream in) throws IOException {
        byte[] all = (byte[]) call(in, "readAllBytes", new Class<?>[0]);
        return all != null ? all : Streams.readAllBytes(in);
    }

    /** {@code in.readNBytes(n)}. */
    static byte[] readNBytes(InputStream in, int n) throws IOException {
        byte[] some = (byte[]) call(in, "readNBytes", new Class<?>[] {int.class}, n);
        return some != null ? some : Streams.readNBytes(in, n);
    }

    /** {@code in.readNBytes(b, off, n)}. */
    static int readNBytes(InputStream in, byte[] b, int off, int n) throws IOException {
        Integer read = (Integer) call(in, "readNBytes", new Class<?>[] {byte[].class, int.class, int.class}, b, off, n);
        return read != null ? read : Streams.readNBytes(in, b, off, n);
    }

    /** Null if there is no such method. */
    private static Object call(InputStream in, String name, Class<?>[] types, Object... arguments) throws IOException {
        try {
            return InputStream.class.getMethod(name, types).invoke(in, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof IOException) {
                throw (IOException) e.getCause();
            }
            if (e.getCause() instanceof RuntimeException) {
                throw (RuntimeException) e.getCause();
            }
            throw new AssertionError(e.getCause());
        } catch (NoSuchMethodException e) {
            return null;
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }
}
