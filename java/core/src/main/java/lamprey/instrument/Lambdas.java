package lamprey.instrument;

import java.lang.reflect.Proxy;

/** The class that the JVM makes for a lambda or a method reference. */
public final class Lambdas {
    private Lambdas() {}

    /** The class in whose source a class is written: of a lambda, the one that has it. Null if it is not known. */
    public static Class<?> writtenIn(Class<?> c) {
        int lambda = c.getName().indexOf("$$Lambda");
        if (lambda < 0) {
            return Proxy.isProxyClass(c) ? null : c;
        }
        try {
            return Class.forName(c.getName().substring(0, lambda), false, c.getClassLoader());
        } catch (ClassNotFoundException e) {
            return null;
        }
    }
}
