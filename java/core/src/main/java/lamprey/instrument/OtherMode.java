package lamprey.instrument;

import java.util.HashSet;
import java.util.Set;

/** Finds classes that are transformed for the other mode than this library: no thread can be suspended through their methods. Asked where a program starts, and for error messages. */
public final class OtherMode {
    private OtherMode() {}

    /**
     * Checks the class of what shall run.
     *
     * @throws IllegalStateException if it is transformed for the other mode
     */
    public static void refuse(Object body) {
        Class<?> c = Lambdas.writtenIn(body.getClass());
        String problem = c == null ? null : problem(c);
        if (problem != null) {
            throw new IllegalStateException(problem);
        }
    }

    /** Of the first such class among those that the calling thread is running, and those of the objects; null if there is none. */
    static String problem(String type, Object... objects) {
        for (Object o : objects) {
            Class<?> c = o == null ? null : Lambdas.writtenIn(o.getClass());
            String problem = c == null ? null : problem(c);
            if (problem != null) {
                return problem;
            }
        }
        Set<String> names = new HashSet<>();
        if (type != null) {
            names.add(type);
        }
        for (StackTraceElement e : new Throwable().getStackTrace()) {
            if (!e.getClassName().contains("$$Lambda")) {
                names.add(e.getClassName());
            }
        }
        for (String name : names) {
            Class<?> c = find(name);
            String problem = c == null ? null : problem(c);
            if (problem != null) {
                return problem;
            }
        }
        return null;
    }

    private static String problem(Class<?> c) {
        Transformed t = annotation(c);
        String mode = Built.WITH_FLAGS ? "flags" : "exceptions";
        if (t == null || t.value().equals(mode)) {
            return null;
        }
        return c.getName() + " is transformed for " + t.value() + ", but the library on the class path is for " + mode + ": use "
            + (Built.WITH_FLAGS ? "lamprey-core-..jar and lamprey-net-..jar without -flags" : "lamprey-core-..-flags.jar and lamprey-net-..-flags.jar")
            + ", or transform all with mode=" + mode;
    }

    /** Null if there is none, or if other annotations of the class cannot be read. */
    private static Transformed annotation(Class<?> c) {
        try {
            return c.getAnnotation(Transformed.class);
        } catch (RuntimeException | LinkageError e) {
            return null;
        }
    }

    /** Null if it is not found by the loader of this library; code of other loaders is not called here. */
    private static Class<?> find(String name) {
        try {
            return Class.forName(name, false, OtherMode.class.getClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            return null;
        }
    }
}
