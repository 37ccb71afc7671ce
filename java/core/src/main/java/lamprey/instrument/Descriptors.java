package lamprey.instrument;

import java.lang.reflect.Method;

/** Descriptors of methods, as in class files. */
final class Descriptors {
    private Descriptors() {}

    static String of(Method m) {
        StringBuilder text = new StringBuilder("(");
        for (Class<?> p : m.getParameterTypes()) {
            append(text, p);
        }
        append(text.append(')'), m.getReturnType());
        return text.toString();
    }

    private static void append(StringBuilder text, Class<?> c) {
        if (c.isArray()) {
            text.append(c.getName().replace('.', '/'));
        } else if (!c.isPrimitive()) {
            text.append('L').append(c.getName().replace('.', '/')).append(';');
        } else if (c == void.class) {
            text.append('V');
        } else if (c == boolean.class) {
            text.append('Z');
        } else if (c == long.class) {
            text.append('J');
        } else {
            text.append(Character.toUpperCase(c.getName().charAt(0)));
        }
    }
}
