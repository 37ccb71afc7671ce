package lamprey.instrument;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;

/** Descriptors of methods, as in class files. */
final class Descriptors {
    private Descriptors() {}

    static String of(Method m) {
        return of(m.getParameterTypes(), m.getReturnType());
    }

    static String of(Constructor<?> c) {
        return of(c.getParameterTypes(), void.class);
    }

    private static String of(Class<?>[] parameters, Class<?> result) {
        StringBuilder text = new StringBuilder("(");
        for (Class<?> p : parameters) {
            append(text, p);
        }
        append(text.append(')'), result);
        return text.toString();
    }

    /** The first letter of a type's descriptor. */
    static char letter(Class<?> c) {
        StringBuilder text = new StringBuilder();
        append(text, c);
        return text.charAt(0);
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
