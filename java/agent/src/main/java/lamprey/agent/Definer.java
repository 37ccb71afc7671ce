package lamprey.agent;

import java.lang.instrument.Instrumentation;
import java.lang.reflect.Method;
import java.security.ProtectionDomain;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Defines generated classes in the loader of the class they belong to, by {@code ClassLoader.defineClass}. Since JDK 9 that is not accessible, unless its
 * package is opened, which an agent may do. The methods for that are not in JDK 8, hence reflection.
 */
final class Definer {
    private final Method defineClass;

    Definer(Instrumentation instrumentation) {
        try {
            defineClass = ClassLoader.class.getDeclaredMethod("defineClass", String.class, byte[].class, int.class, int.class, ProtectionDomain.class);
            if (hasModules()) {
                open(instrumentation);
            }
            defineClass.setAccessible(true);
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

    void define(ClassLoader loader, String internalName, byte[] classFile, ProtectionDomain domain) {
        try {
            defineClass.invoke(loader, internalName.replace('/', '.'), classFile, 0, classFile.length, domain);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot define " + internalName.replace('/', '.') + " in " + loader + ": " + e.getCause(), e);
        }
    }
}
