package lamprey.instrument;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Classes that a rewritten program asks for by name: it gets the class that stands for that name in its class files. {@code Class.forName("java.lang.Thread")} is
 * {@code Thread.class}, then. The names are those of the transformer's table, {@code META-INF/lamprey/rewrites}.
 */
public final class Names {
    private static final Pattern IN_DESCRIPTOR = Pattern.compile("L([^;]+);");
    private static final Map<String, String> TYPES = new HashMap<>();
    private static final Map<String, String> NEWS = new HashMap<>();

    static {
        try {
            for (URL table : Collections.list(Names.class.getClassLoader().getResources("META-INF/lamprey/rewrites"))) {
                try (BufferedReader r = new BufferedReader(new InputStreamReader(table.openStream(), StandardCharsets.UTF_8))) {
                    for (String line = r.readLine(); line != null; line = r.readLine()) {
                        read(line.trim().split("\\s+"));
                    }
                }
            }
        } catch (IOException e) {
            throw new LinkageError("META-INF/lamprey/rewrites cannot be read", e);
        }
    }

    private Names() {}

    private static void read(String[] words) {
        Map<String, String> names = words[0].equals("type") ? TYPES : words[0].equals("new") ? NEWS : null;
        if (names != null) {
            names.put(words[1].replace('/', '.'), words[2].replace('/', '.'));
        }
    }

    /** As {@link Class#forName(String)}. */
    public static Class<?> forName(String name) throws ClassNotFoundException {
        String other = replaced(name);
        return other != null ? ours(other, true) : Class.forName(name, true, Reflection.loaderOfCaller());
    }

    /** As {@link Class#forName(String, boolean, ClassLoader)}. */
    public static Class<?> forName(String name, boolean initialise, ClassLoader loader) throws ClassNotFoundException {
        String other = replaced(name);
        return other != null ? ours(other, initialise) : Class.forName(name, initialise, loader);
    }

    /** As {@link ClassLoader#loadClass(String)}. */
    public static Class<?> loadClass(ClassLoader loader, String name) throws ClassNotFoundException {
        String other = replaced(name);
        return other != null ? ours(other, false) : loader.loadClass(name);
    }

    /** As {@code MethodHandles.Lookup.findClass(String)}, which JDK 8 does not have. */
    public static Class<?> findClass(MethodHandles.Lookup lookup, String name) throws Throwable {
        String other = replaced(name);
        if (other != null) {
            return ours(other, false);
        }
        try {
            return (Class<?>) MethodHandles.Lookup.class.getMethod("findClass", String.class).invoke(lookup, name);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    /** As {@link MethodType#fromMethodDescriptorString}. */
    public static MethodType methodType(String descriptor, ClassLoader loader) {
        Matcher m = IN_DESCRIPTOR.matcher(descriptor);
        StringBuffer all = new StringBuffer();
        boolean replaced = false;
        while (m.find()) {
            String other = TYPES.get(m.group(1).replace('/', '.'));
            replaced |= other != null;
            m.appendReplacement(all, Matcher.quoteReplacement("L" + (other == null ? m.group(1) : other.replace('.', '/')) + ";"));
        }
        return MethodType.fromMethodDescriptorString(m.appendTail(all).toString(), replaced && loader == null ? Names.class.getClassLoader() : loader);
    }

    /** The constructor that a rewritten program calls where it names {@code c}: of a class that blocks light threads instead of the JDK's, if there is one. */
    static Constructor<?> constructor(Constructor<?> c) {
        String other = NEWS.get(c.getDeclaringClass().getName());
        if (other != null) {
            try {
                return ours(other, true).getConstructor(c.getParameterTypes());
            } catch (ReflectiveOperationException e) {
                // There is no such one: the JDK's it is.
            }
        }
        return c;
    }

    /** The name that stands for this one, also of an array of it; null if it is not replaced. */
    private static String replaced(String name) {
        int array = name.lastIndexOf('[') + 1;
        if (array == 0) {
            return TYPES.get(name);
        }
        String other = name.startsWith("L", array) && name.endsWith(";") ? TYPES.get(name.substring(array + 1, name.length() - 1)) : null;
        return other == null ? null : name.substring(0, array) + "L" + other + ";";
    }

    private static Class<?> ours(String name, boolean initialise) throws ClassNotFoundException {
        return Class.forName(name, initialise, Names.class.getClassLoader());
    }
}
