package lamprey.instrument;

import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Reflective calls that can suspend. Rewritten code calls these instead of {@code Method.invoke}, {@code Constructor.newInstance} and
 * {@code Class.newInstance}. All of them do what these do, and block if the method that is called does. Also, lists of a class's members, without those that
 * the transformer has added.
 *
 * <p>The JDK's part of such a call only passes the call on, so it need not be saved: a {@link Suspend} that comes out wrapped in an
 * {@link InvocationTargetException} goes on unwinding, with a frame ({@link Call}) that boxes the result and wraps an exception when the thread
 * goes on. As everywhere, the method that was left last must be the one that the call selects.
 *
 * <p><b>Access.</b> The JDK checks whether the caller may access the member, and the caller is now this class. So a refused call is judged again for
 * the class that called this one, by the rules of the language: the same class or one nested in the same, the same package, a subclass for
 * protected members. A reflective call of a method that itself asks for its caller ({@code Class.forName(String)}, say) sees this class.
 */
public final class Reflection {
    private static final ClassValue<ConcurrentHashMap<String, Site>> SITES = new ClassValue<ConcurrentHashMap<String, Site>>() {
        @Override
        protected ConcurrentHashMap<String, Site> computeValue(Class<?> type) {
            return new ConcurrentHashMap<>();
        }
    };

    private Reflection() {}

    /** As {@link Method#invoke}. */
    @Suspendable
    public static Object invoke(Method m, Object target, Object[] args) throws Throwable {
        Object result = null;
        Suspend s;
        try {
            result = invokeChecked(m, target, args);
            s = Execution.unwinding();
        } catch (InvocationTargetException x) {
            s = suspensionOf(x);
        }
        return s == null ? result : save(s, new Call(Descriptors.letter(m.getReturnType()), Call.INVOKE), site(m), target);
    }

    /** As {@link Constructor#newInstance}. */
    @Suspendable
    public static Object newInstance(Constructor<?> named, Object[] args) throws Throwable {
        Constructor<?> c = Names.constructor(named);
        Object result = null;
        Suspend s;
        try {
            result = newChecked(c, args);
            s = Execution.unwinding();
        } catch (InvocationTargetException x) {
            s = suspensionOf(x);
        }
        return s == null ? result : save(s, new Call('L', Call.CONSTRUCT), site(c), null);
    }

    /** As {@link Class#newInstance()}: what the constructor throws comes out as it is. */
    @Suspendable
    public static Object newInstance(Class<?> type) throws Throwable {
        Constructor<?> c;
        try {
            c = Names.constructor(type.getDeclaredConstructor());
        } catch (NoSuchMethodException x) {
            throw (InstantiationException) new InstantiationException(type.getName()).initCause(x);
        }
        Object result = null;
        Suspend s;
        try {
            result = newChecked(c, new Object[0]);
            s = Execution.unwinding();
        } catch (InvocationTargetException x) {
            if (!(x.getCause() instanceof Suspend)) {
                throw x.getCause();
            }
            s = suspensionOf(x);
        }
        return s == null ? result : save(s, new Call('L', Call.NEW), site(c), null);
    }

    /** As {@link Class#getDeclaredMethods()}, without what the transformer has added. */
    public static Method[] getDeclaredMethods(Class<?> type) {
        return ofTheProgram(type.getDeclaredMethods());
    }

    /** As {@link Class#getMethods()}, without what the transformer has added. */
    public static Method[] getMethods(Class<?> type) {
        return ofTheProgram(type.getMethods());
    }

    /** As {@link Class#getDeclaredConstructors()}, without what the transformer has added. */
    public static Constructor<?>[] getDeclaredConstructors(Class<?> type) {
        return ofTheProgram(type.getDeclaredConstructors());
    }

    /** As {@link Class#getConstructors()}, without what the transformer has added. */
    public static Constructor<?>[] getConstructors(Class<?> type) {
        return ofTheProgram(type.getConstructors());
    }

    private static <M extends Executable> M[] ofTheProgram(M[] members) {
        int n = 0;
        for (M m : members) {
            if (!m.isSynthetic() || !isGenerated(m)) {
                members[n++] = m;
            }
        }
        return n == members.length ? members : Arrays.copyOf(members, n);
    }

    /** Twins, bodies of method references, constructors that return when they suspend. */
    private static boolean isGenerated(Executable m) {
        if (m instanceof Constructor) {
            Class<?>[] parameters = m.getParameterTypes();
            return parameters.length > 0 && parameters[parameters.length - 1] == Returning.class;
        }
        return m.getName().endsWith("$pico") || m.getName().startsWith("lambda$pico$");
    }

    private static Suspend suspensionOf(InvocationTargetException x) throws InvocationTargetException {
        if (x.getCause() instanceof Suspend) {
            return (Suspend) x.getCause();
        }
        throw x;
    }

    private static Object save(Suspend s, Call frame, Site site, Object receiver) throws Throwable {
        Suspend thrown = s.capture(frame, frame.method(), site, receiver);
        if (Built.WITH_FLAGS) {
            return null;
        }
        throw thrown;
    }

    private static Site site(Method m) {
        int mods = m.getModifiers();
        boolean isInterface = m.getDeclaringClass().isInterface();
        char kind = Modifier.isStatic(mods) ? 's' : Modifier.isPrivate(mods) ? 'x' : isInterface ? 'i' : 'v';
        return site(kind, m, m.getName(), Descriptors.of(m));
    }

    private static Site site(Constructor<?> c) {
        return site('x', c, "<init>", Descriptors.of(c));
    }

    private static Site site(char kind, Executable member, String name, String desc) {
        ConcurrentHashMap<String, Site> known = SITES.get(member.getDeclaringClass());
        Site site = known.get(name + desc);
        if (site == null) {
            String owner = member.getDeclaringClass().getName().replace('.', '/');
            site = Site.parse(kind + " " + owner + " " + name + " " + desc + " -1");
            known.put(name + desc, site);
        }
        return site;
    }

    private static Object invokeChecked(Method m, Object target, Object[] args)
            throws IllegalAccessException, InvocationTargetException, NoSuchMethodException {
        if (!isOurs(m)) {
            try {
                return m.invoke(target, args);
            } catch (IllegalAccessException refused) {
                if (!mayAccess(m)) {
                    throw refused;
                }
            }
        } else if (!mayAccess(m)) {
            throw new IllegalAccessException(m + " is not accessible from " + caller());
        }
        Method copy = m.getDeclaringClass().getDeclaredMethod(m.getName(), m.getParameterTypes());
        copy.setAccessible(true);
        return copy.invoke(target, args);
    }

    private static Object newChecked(Constructor<?> c, Object[] args)
            throws IllegalAccessException, InvocationTargetException, InstantiationException, NoSuchMethodException {
        if (!isOurs(c)) {
            try {
                return c.newInstance(args);
            } catch (IllegalAccessException refused) {
                if (!mayAccess(c)) {
                    throw refused;
                }
            }
        } else if (!mayAccess(c)) {
            throw new IllegalAccessException(c + " is not accessible from " + caller());
        }
        Constructor<?> copy = c.getDeclaringClass().getDeclaredConstructor(c.getParameterTypes());
        copy.setAccessible(true);
        return copy.newInstance(args);
    }

    /** A member that the JDK's check would allow only because this class is in the same package. */
    private static boolean isOurs(Executable member) {
        return member.getDeclaringClass().getName().startsWith("lamprey.instrument.")
            && !(Modifier.isPublic(member.getModifiers()) && Modifier.isPublic(member.getDeclaringClass().getModifiers()));
    }

    private static boolean mayAccess(Executable member) {
        Class<?> caller = caller();
        Class<?> owner = member.getDeclaringClass();
        int mods = member.getModifiers();
        if (caller == null) {
            return false;
        }
        if (outermost(caller) == outermost(owner)) {
            return true;
        }
        boolean samePackage = caller.getClassLoader() == owner.getClassLoader() && packageOf(caller).equals(packageOf(owner));
        boolean ownerSeen = samePackage || Modifier.isPublic(owner.getModifiers());
        boolean inherits = Modifier.isProtected(mods) && owner.isAssignableFrom(caller) && member instanceof Method;
        return !Modifier.isPrivate(mods) && ownerSeen && (samePackage || inherits || Modifier.isPublic(mods));
    }

    private static Class<?> outermost(Class<?> c) {
        Class<?> outer = c;
        while (outer.getEnclosingClass() != null) {
            outer = outer.getEnclosingClass();
        }
        return outer;
    }

    private static String packageOf(Class<?> c) {
        return c.getName().substring(0, Math.max(0, c.getName().lastIndexOf('.')));
    }

    /** The loader of the class whose code called {@link Names}. */
    static ClassLoader loaderOfCaller() {
        Class<?> c = caller();
        return c == null ? ClassLoader.getSystemClassLoader() : c.getClassLoader();
    }

    /** The class whose code called this one; null if it cannot be told. */
    private static Class<?> caller() {
        for (Class<?> c : new Callers().classes()) {
            if (c != Callers.class && c != Reflection.class && c != Names.class) {
                return c;
            }
        }
        return null;
    }

    /** The only way to the classes on the stack that JDK 8 and 25 have in common. It is never installed. */
    @SuppressWarnings({"removal", "deprecation"})
    private static final class Callers extends SecurityManager {
        Class<?>[] classes() {
            return getClassContext();
        }
    }

    /** A reflective call that waits for the method that it has called. */
    static final class Call extends Frame {
        private static final long serialVersionUID = 1;
        static final MethodInfo INVOKE = info("invoke", "(Ljava/lang/reflect/Method;Ljava/lang/Object;[Ljava/lang/Object;)Ljava/lang/Object;");
        static final MethodInfo CONSTRUCT = info("newInstance", "(Ljava/lang/reflect/Constructor;[Ljava/lang/Object;)Ljava/lang/Object;");
        static final MethodInfo NEW = info("newInstance", "(Ljava/lang/Class;)Ljava/lang/Object;");

        private final char result;
        private final byte kind;

        Call(char result, MethodInfo method) {
            this.result = result;
            this.kind = (byte) (method == INVOKE ? 0 : method == CONSTRUCT ? 1 : 2);
        }

        private static MethodInfo info(String name, String desc) {
            return MethodInfo.transformed(Reflection.class, name, desc, "Reflection.java", 1, "s ? ? ? -1", "");
        }

        @Override
        public MethodInfo method() {
            return kind == 0 ? INVOKE : kind == 1 ? CONSTRUCT : NEW;
        }

        @Override
        public void resume(Resume r) throws Throwable {
            Throwable thrown = r.error;
            if (thrown != null) {
                throw kind == 2 ? thrown : new InvocationTargetException(thrown);
            }
            r.ref = boxed(r);
        }

        private Object boxed(Resume r) {
            switch (result) {
                case 'V': return null;
                case 'Z': return r.prim != 0;
                case 'B': return (byte) r.prim;
                case 'C': return (char) r.prim;
                case 'S': return (short) r.prim;
                case 'I': return (int) r.prim;
                case 'J': return r.prim;
                case 'F': return (float) r.real;
                case 'D': return r.real;
                default: return r.ref;
            }
        }
    }
}
