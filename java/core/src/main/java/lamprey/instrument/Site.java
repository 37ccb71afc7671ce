package lamprey.instrument;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;

/**
 * A call, in a transformed method, that can suspend.
 *
 * <p>{@link #leadsTo} answers whether the method that the JVM has selected at this call is the given one. The last answer is kept, as a pair in one
 * object, so that asking again costs two comparisons.
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

    /** Replaced as a whole; immutable, hence safe to read without synchronisation. */
    private Known known;

    private static final class Known {
        final MethodInfo callee;
        final Class<?> receiver;

        Known(MethodInfo callee, Class<?> receiver) {
            this.callee = callee;
            this.receiver = receiver;
        }
    }

    private Site(char kind, String owner, String name, String desc, int line) {
        this.kind = kind;
        this.owner = owner;
        this.name = name;
        this.desc = desc;
        this.line = line;
    }

    static Site parse(String text) {
        String[] parts = text.split(" ");
        return new Site(parts[0].charAt(0), parts[1], parts[2], parts[3], Integer.parseInt(parts[4]));
    }

    boolean leadsTo(MethodInfo callee, Object receiver) {
        Class<?> type = receiver == null ? null : receiver.getClass();
        Known k = known;
        if (k != null && k.callee == callee && k.receiver == type) {
            return true;
        }
        if (callee == null || !selects(callee, type)) {
            return false;
        }
        known = new Known(callee, type);
        return true;
    }

    private boolean selects(MethodInfo callee, Class<?> receiver) {
        if (kind == 's' || kind == 'x') {
            return callee.name.equals(name) && callee.desc.equals(desc) && inherits(callee);
        }
        if (receiver == null) {
            return false;
        }
        if (callee.name.equals(name) && callee.desc.equals(desc)) {
            return selected(receiver, callee) == callee.type;
        }
        // The class that the JVM makes for a lambda has no other code than the call of its body.
        return callee.isAlias(name, desc) && receiver.isSynthetic()
            && receiver.getName().startsWith(callee.type.getName() + "$$Lambda");
    }

    /** A static or special call names the class of the method, or one that inherits it. */
    private boolean inherits(MethodInfo callee) {
        if (callee.owner.equals(owner)) {
            return true;
        }
        try {
            return callee.type.isAssignableFrom(Class.forName(owner.replace('/', '.'), false, callee.type.getClassLoader()));
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }

    /** The class whose method the JVM selects for this receiver. */
    private Class<?> selected(Class<?> receiver, MethodInfo callee) {
        for (Class<?> c = receiver; c != null; c = c.getSuperclass()) {
            if (declares(c)) {
                return c;
            }
        }
        // A default method: the one that is left must be the interface's own.
        return callee.type.isInterface() && callee.type.isAssignableFrom(receiver) ? callee.type : null;
    }

    private boolean declares(Class<?> c) {
        for (Method m : c.getDeclaredMethods()) {
            if (m.getName().equals(name) && !Modifier.isStatic(m.getModifiers()) && Descriptors.of(m).equals(desc)) {
                return true;
            }
        }
        return false;
    }
}
