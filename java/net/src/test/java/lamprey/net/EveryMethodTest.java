package lamprey.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** No public method of the JDK's class, on the JDK that runs this test, is left to the JDK's own code; nor is a constructor missing. */
class EveryMethodTest {
    /** Do not block, and need nothing that a subclass has. */
    private static final Set<String> INHERITED = new HashSet<>(Arrays.asList(
        "Socket.getChannel()", "ServerSocket.getChannel()", "InputStream.markSupported()", "InputStream.available()", "InputStream.close()",
        "InputStream.mark(int)", "InputStream.reset()", "OutputStream.flush()", "OutputStream.close()", "FilterInputStream.markSupported()",
        "BufferedInputStream.markSupported()", "PushbackInputStream.markSupported()", "PushbackInputStream.mark(int)", "PushbackInputStream.reset()",
        "PushbackInputStream.unread(int)", "PushbackInputStream.unread([B)", "PushbackInputStream.unread([B,int,int)", "Reader.ready()", "Reader.markSupported()",
        "Reader.mark(int)", "Reader.reset()", "FilterReader.markSupported()", "BufferedReader.markSupported()", "InputStreamReader.markSupported()",
        "InputStreamReader.mark(int)", "InputStreamReader.reset()", "InputStreamReader.getEncoding()", "OutputStreamWriter.getEncoding()",
        "SequenceInputStream.markSupported()", "SequenceInputStream.mark(int)", "SequenceInputStream.reset()", "PrintStream.charset()",
        "PushbackInputStream.available()", "PushbackInputStream.close()", "Reader.close()", "Reader.read([C,int,int)", "InputStream.read()",
        "OutputStream.write(int)", "Writer.write([C,int,int)", "Writer.flush()", "Writer.close()"));

    private static void compare(Class<?> jdk, Class<?> ours) {
        Set<String> missing = new TreeSet<>();
        for (Method m : jdk.getMethods()) {
            String name = jdk.getSimpleName() + "." + m.getName() + parameters(m.getParameterTypes());
            if (m.getDeclaringClass() != Object.class && !Modifier.isStatic(m.getModifiers()) && !INHERITED.contains(name) && !overridden(ours, jdk, m)) {
                missing.add(name);
            }
        }
        for (Constructor<?> c : jdk.getConstructors()) {
            if (Arrays.stream(ours.getDeclaredConstructors()).noneMatch(o -> Arrays.equals(o.getParameterTypes(), c.getParameterTypes()))) {
                missing.add(jdk.getSimpleName() + ".<init>" + parameters(c.getParameterTypes()));
            }
        }
        assertEquals(new TreeSet<String>(), missing, "of " + jdk);
    }

    private static boolean overridden(Class<?> ours, Class<?> jdk, Method m) {
        for (Class<?> c = ours; c != null && c != jdk; c = c.getSuperclass()) {
            for (Method o : c.getDeclaredMethods()) {
                if (o.getName().equals(m.getName()) && Arrays.equals(o.getParameterTypes(), m.getParameterTypes())) {
                    return true;
                }
            }
        }
        return false;
    }

    private static String parameters(Class<?>[] types) {
        StringBuilder s = new StringBuilder("(");
        for (Class<?> t : types) {
            s.append(s.length() > 1 ? "," : "").append(t.isPrimitive() ? t.getName() : t.isArray() ? t.getName() : t.getSimpleName());
        }
        return s.append(')').toString();
    }

    @Test
    void sockets() {
        compare(java.net.Socket.class, Socket.class);
        compare(java.net.ServerSocket.class, ServerSocket.class);
        compare(java.net.DatagramSocket.class, DatagramSocket.class);
    }

    @Test
    void streams() throws ClassNotFoundException {
        String[] names = {"InputStream", "OutputStream", "FilterInputStream", "FilterOutputStream", "BufferedInputStream", "BufferedOutputStream",
            "PushbackInputStream", "SequenceInputStream", "PrintStream", "Reader", "Writer", "FilterReader", "FilterWriter", "BufferedReader",
            "BufferedWriter", "InputStreamReader", "OutputStreamWriter", "PrintWriter"};
        for (String name : names) {
            Class<?> ours = Class.forName("lamprey.io." + name);
            compare(Class.forName("java.io." + name), ours);
            assertTrue(Class.forName("java.io." + name).isAssignableFrom(ours));
        }
    }

    @Test
    void data_streams_have_the_same_methods() {
        for (Class<?>[] c : new Class<?>[][] {{java.io.DataInputStream.class, lamprey.io.DataInputStream.class},
            {java.io.DataOutputStream.class, lamprey.io.DataOutputStream.class}}) {
            for (Method m : c[0].getDeclaredMethods()) {
                assertTrue(!Modifier.isPublic(m.getModifiers()) || m.isSynthetic() || overridden(c[1], Object.class, m), m.toString());
            }
        }
    }
}
