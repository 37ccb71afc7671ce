package lamprey.agent;

import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.security.ProtectionDomain;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Defines generated classes in the loader of the class they belong to, by {@code ClassLoader.defineClass}. Since JDK 9 that is not accessible, unless its
 * package is opened, which an agent may do. The methods for that are not in JDK 8, hence reflection.
 *
 * <p>A class may be defined more than once: by two threads, of which one fails, or again, as its super class could not be loaded at first. What was generated for it is
 * then there already, and is used if it is the same.
 */
final class Definer {
    private final Method defineClass;
    private final Method findLoadedClass;
    /** A hash of what was generated for each class. */
    private final Map<ClassLoader, Map<String, Integer>> contents = Collections.synchronizedMap(new WeakHashMap<>());

    Definer(Instrumentation instrumentation) {
        try {
            defineClass = ClassLoader.class.getDeclaredMethod("defineClass", String.class, byte[].class, int.class, int.class, ProtectionDomain.class);
            findLoadedClass = ClassLoader.class.getDeclaredMethod("findLoadedClass", String.class);
            if (hasModules()) {
                open(instrumentation);
            }
            defineClass.setAccessible(true);
            findLoadedClass.setAccessible(true);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("lamprey-agent: classes cannot be defined in other loaders on this JVM", e);
        }
    }

    private static boolean hasModules() {
        return !System.getProperty("java.specification.version").startsWith("1.");
    }

    private static void open(Instrumentation instrumentation) throws ReflectiveOperationException {
        Method module = Class.class.getMethod("getModule");
        Class<?> moduleType = module.getReturnType();
        Object base = module.invoke(ClassLoader.class);
        Map<String, Set<?>> opens = Collections.singletonMap("java.lang", Collections.singleton(module.invoke(Definer.class)));
        Method redefine = Instrumentation.class.getMethod("redefineModule", moduleType, Set.class, Map.class, Map.class, Set.class, Map.class);
        redefine.invoke(instrumentation, base, Collections.emptySet(), Collections.emptyMap(), opens, Collections.emptySet(),
            Collections.<Class<?>, List<Class<?>>>emptyMap());
    }

    /** Whether the loader has defined this class. */
    boolean isDefined(ClassLoader loader, String internalName) {
        try {
            Class<?> c = (Class<?>) findLoadedClass.invoke(loader, internalName.replace('/', '.'));
            return c != null && c.getClassLoader() == loader;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot ask " + loader + " for " + internalName.replace('/', '.'), e);
        }
    }

    /** Defines what was generated for the class {@code owner}. */
    void define(ClassLoader loader, String owner, Map<String, byte[]> generated, ProtectionDomain domain) {
        if (generated.isEmpty()) {
            return;
        }
        Map<String, Integer> known = contents.computeIfAbsent(loader, l -> new ConcurrentHashMap<>());
        int content = 0;
        for (byte[] classFile : generated.values()) {
            content = 31 * content + Arrays.hashCode(classFile);
        }
        // Before, as another thread may define the same at this moment.
        known.putIfAbsent(owner, content);
        boolean all = true;
        for (Map.Entry<String, byte[]> g : generated.entrySet()) {
            all &= define(loader, g.getKey(), g.getValue(), domain, known.get(owner) == content);
        }
        if (all) {
            known.put(owner, content);
        }
    }

    /** Returns whether it was not there before. */
    private boolean define(ClassLoader loader, String name, byte[] classFile, ProtectionDomain domain, boolean same) {
        try {
            defineClass.invoke(loader, name.replace('/', '.'), classFile, 0, classFile.length, domain);
            return true;
        } catch (InvocationTargetException e) {
            if (same && e.getCause() instanceof LinkageError && isDefined(loader, name)) {
                return false;
            }
            throw new IllegalStateException("cannot define " + name.replace('/', '.') + " in " + loader + ": " + e.getCause(), e);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException("cannot define " + name.replace('/', '.') + " in " + loader + ": " + e, e);
        }
    }
}
