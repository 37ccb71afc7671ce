package lamprey.continuation;

import java.io.ObjectInputStream;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/**
 * How large a serialised continuation may be. What is written and what is read must keep to the same limits.
 *
 * <p>The JDK's own filter of object streams counts depth, references and array lengths while it reads, before it allocates. Its interface has another
 * name in JDK 8 ({@code sun.misc}, since update 121) than later, so it is found by reflection and implemented by a proxy. An older JDK 8 has none; there
 * only the size and the list of classes are checked.
 */
final class Limits {
    static final Limits DEFAULT = new Limits(16 << 20, 500, 1 << 20, 1_000_000);

    final int bytes;
    final int depth;
    final int arrayLength;
    final int references;

    Limits(int bytes, int depth, int arrayLength, int references) {
        if (bytes <= 0 || depth <= 0 || arrayLength <= 0 || references <= 0) {
            throw new IllegalArgumentException("limits must be positive: " + bytes + ", " + depth + ", " + arrayLength + ", " + references);
        }
        this.bytes = bytes;
        this.depth = depth;
        this.arrayLength = arrayLength;
        this.references = references;
    }

    /** What the filter has refused; null if nothing. */
    static final class Watch {
        String exceeded;
    }

    /** Makes the stream keep to the limits. */
    void apply(ObjectInputStream in, Watch watch) {
        if (Jdk.FILTER == null) {
            return;
        }
        InvocationHandler check = (proxy, method, args) -> answer(proxy, method, args, watch);
        Object filter = Proxy.newProxyInstance(Limits.class.getClassLoader(), new Class<?>[] {Jdk.FILTER}, check);
        try {
            if (Jdk.ON_STREAM) {
                Jdk.SET.invoke(in, filter);
            } else {
                Jdk.SET.invoke(null, in, filter);
            }
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException("the JDK refuses a filter of object streams", e);
        }
    }

    private Object answer(Object proxy, Method method, Object[] args, Watch watch) throws IllegalAccessException, InvocationTargetException {
        switch (method.getName()) {
            case "checkInput":
                watch.exceeded = exceeded(args[0]);
                return watch.exceeded == null ? Jdk.UNDECIDED : Jdk.REJECTED;
            case "equals":
                return proxy == args[0];
            case "hashCode":
                return System.identityHashCode(proxy);
            case "toString":
                return "limits of a continuation";
            default:
                return method.isDefault() ? proxy : null;
        }
    }

    private String exceeded(Object info) throws IllegalAccessException, InvocationTargetException {
        long depthNow = (Long) Jdk.DEPTH.invoke(info);
        long length = (Long) Jdk.LENGTH.invoke(info);
        long count = (Long) Jdk.REFERENCES.invoke(info);
        if (depthNow > depth) {
            return "objects are nested more than " + depth + " deep";
        }
        if (length > arrayLength) {
            return "an array has " + length + " elements, the limit is " + arrayLength;
        }
        return count > references ? "there are more than " + references + " objects" : null;
    }

    /** The JDK's filter, under either name. */
    private static final class Jdk {
        static final Class<?> FILTER;
        static final Method SET;
        static final boolean ON_STREAM;
        static final Method DEPTH;
        static final Method LENGTH;
        static final Method REFERENCES;
        static final Object UNDECIDED;
        static final Object REJECTED;

        static {
            Class<?> filter = find("java.io.ObjectInputFilter");
            ON_STREAM = filter != null;
            if (filter == null) {
                filter = find("sun.misc.ObjectInputFilter");
            }
            FILTER = filter;
            try {
                SET = filter == null ? null : ON_STREAM ? ObjectInputStream.class.getMethod("setObjectInputFilter", filter)
                    : find(filter.getName() + "$Config").getMethod("setObjectInputFilter", ObjectInputStream.class, filter);
                Class<?> info = filter == null ? null : find(filter.getName() + "$FilterInfo");
                DEPTH = info == null ? null : info.getMethod("depth");
                LENGTH = info == null ? null : info.getMethod("arrayLength");
                REFERENCES = info == null ? null : info.getMethod("references");
                UNDECIDED = constant(filter, "UNDECIDED");
                REJECTED = constant(filter, "REJECTED");
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private static Class<?> find(String name) {
            try {
                return Class.forName(name);
            } catch (ClassNotFoundException e) {
                return null;
            }
        }

        private static Object constant(Class<?> filter, String name) throws ReflectiveOperationException {
            return filter == null ? null : find(filter.getName() + "$Status").getField(name).get(null);
        }
    }
}
