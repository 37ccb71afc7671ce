package lamprey.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** What the list of rewritten calls leads to is there, and classes whose code is run in a pool are covered. */
class CallLinesTest {
    /** Only called by the code of an object that is being read or written, or do not block. */
    private static final Set<String> LEFT = new HashSet<>(Arrays.asList("defaultReadObject", "readFields", "registerValidation", "available", "getObjectInputFilter",
        "setObjectInputFilter", "useProtocolVersion", "defaultWriteObject", "putFields", "writeFields", "ioException", "delimiter", "useDelimiter", "locale", "useLocale",
        "radix", "useRadix", "match", "toString", "remove", "tokens", "findAll"));

    private static Set<String> lines() throws Exception {
        Set<String> lines = new TreeSet<>();
        try (BufferedReader in = new BufferedReader(new InputStreamReader(Http.class.getResourceAsStream("/META-INF/lamprey/rewrites")))) {
            in.lines().filter(l -> l.startsWith("call ")).forEach(lines::add);
        }
        return lines;
    }

    @Test
    void every_target_is_there() throws Exception {
        for (String line : lines()) {
            String to = line.split(" +")[2];
            int dot = to.indexOf('.');
            int open = to.indexOf('(');
            Class<?> c = Class.forName(to.substring(0, dot).replace('/', '.'));
            MethodType type = MethodType.fromMethodDescriptorString(to.substring(open), c.getClassLoader());
            Method m = c.getMethod(to.substring(dot + 1, open), type.parameterArray());
            assertTrue(Modifier.isStatic(m.getModifiers()), line);
            assertEquals(type.returnType(), m.getReturnType(), line);
        }
    }

    @Test
    void every_method_that_blocks_has_a_line() throws Exception {
        Set<String> lines = lines();
        for (Class<?> c : new Class<?>[] {java.util.Scanner.class, java.io.ObjectInputStream.class, java.io.ObjectOutputStream.class}) {
            for (Method m : c.getDeclaredMethods()) {
                String call = "call " + c.getName().replace('.', '/') + "." + m.getName() + MethodType.methodType(m.getReturnType(), m.getParameterTypes()).toMethodDescriptorString();
                boolean left = !Modifier.isPublic(m.getModifiers()) || Modifier.isStatic(m.getModifiers()) || m.isSynthetic() || LEFT.contains(m.getName());
                // Scanner.reset() reads nothing, ObjectOutputStream.reset() writes.
                left |= c == java.util.Scanner.class && m.getName().equals("reset");
                assertTrue(left || lines.stream().anyMatch(l -> l.startsWith(call + " ")), call);
            }
        }
    }
}
