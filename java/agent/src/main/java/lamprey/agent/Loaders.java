package lamprey.agent;

import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import lamprey.transform.Names;

/**
 * Whether the classes of a loader can be transformed. Those of the JDK stay as they are, and those of loaders that do not find the runtime, as they could not be linked with it. That
 * is said, once for each loader, if the user can have meant them: if a package was named, or if it is the loader of the program.
 */
final class Loaders {
    private final AgentOptions options;
    /** The extension or platform loader; null if it is not known. */
    private final ClassLoader jdk;
    private final Set<ClassLoader> seeing = weakSet();
    private final Set<ClassLoader> complained = weakSet();

    Loaders(AgentOptions options) {
        this.options = options;
        ClassLoader l = ClassLoader.getSystemClassLoader();
        while (l.getParent() != null) {
            l = l.getParent();
        }
        // Else the program has a system loader of its own, without a parent.
        jdk = l.getClass().getClassLoader() == null ? l : null;
    }

    private static Set<ClassLoader> weakSet() {
        return Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
    }

    boolean areTransformed(ClassLoader loader, String name, ProtectionDomain domain) {
        if (loader == jdk || isOfJdk(domain)) {
            complain(loader, name, options.isNamed(name), "are the JDK's");
            return false;
        }
        // That one does not is not kept: it may find more later.
        if (seeing.contains(loader)) {
            return true;
        }
        if (!sees(loader, Names.REWRITES) || !sees(loader, Names.FRAME + ".class")) {
            complain(loader, name, options.isNamed(name) || loader == ClassLoader.getSystemClassLoader(),
                "do not find lamprey-core: add it to the class path, or to what this loader finds");
            return false;
        }
        seeing.add(loader);
        return true;
    }

    /** Modules of the JDK may be in the loader of the program, too. */
    private static boolean isOfJdk(ProtectionDomain domain) {
        CodeSource source = domain == null ? null : domain.getCodeSource();
        return source != null && source.getLocation() != null && "jrt".equals(source.getLocation().getProtocol());
    }

    /** Asked as a resource: loading a class here could wait for a lock of the loader. */
    private static boolean sees(ClassLoader loader, String resource) {
        return loader.getResource(resource) != null;
    }

    private void complain(ClassLoader loader, String name, boolean meant, String reason) {
        if (meant && complained.add(loader)) {
            System.err.println("lamprey-agent: " + name.replace('/', '.') + " and other classes of the loader " + loader + " stay as they are, since they " + reason);
        }
    }

    /** Whether classes that were meant have been left. */
    boolean haveComplained() {
        return !complained.isEmpty();
    }
}
