package lamprey.instrument;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;

/**
 * A call, in a transformed method, that can suspend.
 *
 * <p>{@link #leadsTo} answers whether the method that the JVM has selected at this call is the given one. The last answers are kept, so that asking again
 * costs two comparisons for each receiver's class that the call has met, the newest first.
 */
public final class Site {
    final char kind;
    final String owner;
    /** Name of the method that is called. */
    public final String name;
    /** Its descriptor. */
    public final String desc;
    /** Line in the source; -1 if not known. */
    public final int line;

    /** How many answers are kept. Then all are forgotten: the classes of loaders that are gone, too. */
    private static final int MOST = 16;

    /** Immutable, hence safe to read without synchronisation; an answer that another thread adds at the same time may be lost. */
    private Known known;

    private static final class Known {
        final MethodInfo callee;
        final Class<?> receiver;
        final Known older;
        final int count;

        Known(MethodInfo callee, Class<?> receiver, Known older) {
            this.callee = callee;
            this.receiver = receiver;
            this.older = older != null && older.count >= MOST ? null : older;
            this.count = this.older == null ? 1 : older.count + 1;
        }
    }

    /** The class that calls; null for one of the runtime. */
    private final Class<?> caller;

    private Site(Class<?> caller, char kind, String owner, String name, String desc, int line) {
        this.caller = caller;
        this.kind = kind;
        this.owner = owner;
        this.name = name;
        this.desc = desc;
        this.line = line;
    }

    static Site parse(String text) {
        return parse(text, null);
    }

    static Site parse(String text, Class<?> caller) {
        String[] parts = text.split(" ");
        return new Site(caller, parts[0].charAt(0), parts[1], parts[2], parts[3], Integer.parseInt(parts[4]));
    }

    boolean leadsTo(MethodInfo callee, Object receiver) {
        Class<?> type = receiver == null ? null : receiver.getClass();
        for (Known k = known; k != null; k = k.older) {
            if (k.callee == callee && k.receiver == type) {
                return true;
            }
        }
        if (callee == null || !selects(callee, type)) {
            return false;
        }
        known = new Known(callee, type, known);
        return true;
    }

    private boolean selects(MethodInfo callee, Class<?> receiver) {
        if (!callee.name.equals(name) || !callee.desc.equals(desc)) {
            // The class that the JVM makes for a lambda has no other code than the call of its body.
            return receiver != null && callee.isAlias(name, desc) && receiver.isSynthetic()
                && receiver.getName().startsWith(callee.type.getName() + "$$Lambda");
        }
        if (name.equals("<init>")) {
            return callee.owner.equals(owner);
        }
        if (kind == 's' || kind == 'x') {
            Class<?> named = callee.owner.equals(owner) ? callee.type : named(callee);
            return named != null && selected(named, callee, null) == callee.type;
        }
        if (receiver == null || !callee.type.isAssignableFrom(receiver)) {
            return false;
        }
        Method m = null;
        try {
            m = declared(callee.type);
            if (m == null) {
                return false;
            }
        } catch (LinkageError e) {
            // It has a method with a type that is missing. That it declares the callee is known all the same.
        }
        // A private method is what is named: no other overrides it.
        return m != null && Modifier.isPrivate(m.getModifiers()) ? callee.owner.equals(owner) : selected(receiver, callee, m) == callee.type;
    }

    private Class<?> named(MethodInfo callee) {
        try {
            // The callee's loader may not know it: it may be a subclass in another.
            return Class.forName(owner.replace('/', '.'), false, (caller == null ? callee.type : caller).getClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            return null;
        }
    }

    /**
     * The class or interface whose method the JVM takes when it starts to look in {@code from}; as good as that matters, if it is not the callee's.
     *
     * @param overridden for a virtual call, the callee's method: only what overrides it counts
     */
    private Class<?> selected(Class<?> from, MethodInfo callee, Method overridden) {
        for (Class<?> c = from; c != null; c = c.getSuperclass()) {
            Method m;
            try {
                m = declared(c);
            } catch (LinkageError e) {
                return c == callee.type ? c : resolved(c, callee);
            }
            if (m != null && (overridden == null || c == callee.type || overrides(m, overridden))) {
                return c;
            }
        }
        return callee.type.isInterface() && callee.type.isAssignableFrom(from) && !isRefined(from, callee.type) ? callee.type : null;
    }

    /** As {@link #selected}, by the JVM, without a list of the class's methods. Null if that is not possible: the frame is refused then. */
    private Class<?> resolved(Class<?> from, MethodInfo callee) {
        try {
            MethodHandles.Lookup lookup = lookupIn(from);
            MethodType type = MethodType.fromMethodDescriptorString(desc, callee.type.getClassLoader());
            MethodHandle found = kind == 's' ? lookup.findStatic(from, name, type) : lookup.findVirtual(from, name, type);
            return lookup.revealDirect(found).getDeclaringClass();
        } catch (ReflectiveOperationException | LinkageError | TypeNotPresentException e) {
            return null;
        }
    }

    /** Sees what {@code from} sees. */
    private static MethodHandles.Lookup lookupIn(Class<?> from) throws ReflectiveOperationException {
        Method in;
        try {
            in = MethodHandles.class.getMethod("privateLookupIn", Class.class, MethodHandles.Lookup.class);
        } catch (NoSuchMethodException e) {
            // JDK 8, which makes no secret of its constructor.
            Constructor<MethodHandles.Lookup> open = MethodHandles.Lookup.class.getDeclaredConstructor(Class.class);
            open.setAccessible(true);
            return open.newInstance(from);
        }
        return (MethodHandles.Lookup) in.invoke(null, from, MethodHandles.lookup());
    }

    private static boolean overrides(Method m, Method overridden) {
        int mods = overridden.getModifiers();
        Class<?> a = m.getDeclaringClass();
        Class<?> b = overridden.getDeclaringClass();
        return !Modifier.isPrivate(m.getModifiers()) && !Modifier.isStatic(m.getModifiers())
            && (Modifier.isPublic(mods) || Modifier.isProtected(mods) || a.getClassLoader() == b.getClassLoader() && packageOf(a).equals(packageOf(b)));
    }

    private static String packageOf(Class<?> c) {
        return c.getName().substring(0, c.getName().lastIndexOf('.') + 1);
    }

    /** Whether {@code from} has, by whatever way, an interface that extends {@code general} and has a method of this name itself. */
    private boolean isRefined(Class<?> from, Class<?> general) {
        for (Class<?> c = from; c != null; c = c.getSuperclass()) {
            for (Class<?> i : c.getInterfaces()) {
                if (i != general && general.isAssignableFrom(i) && (mayDeclare(i) || isRefined(i, general))) {
                    return true;
                }
            }
        }
        return false;
    }

    private boolean mayDeclare(Class<?> c) {
        try {
            return declared(c) != null;
        } catch (LinkageError e) {
            return true;
        }
    }

    /** The method of this call's name and descriptor, and kind, that a class declares; null if none. */
    private Method declared(Class<?> c) {
        for (Method m : c.getDeclaredMethods()) {
            if (m.getName().equals(name) && Modifier.isStatic(m.getModifiers()) == (kind == 's') && Descriptors.of(m).equals(desc)) {
                return m;
            }
        }
        return null;
    }
}
