package lamprey.agent;

import java.lang.instrument.ClassFileTransformer;
import java.nio.charset.StandardCharsets;
import java.security.ProtectionDomain;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.WeakHashMap;
import lamprey.transform.Names;
import lamprey.transform.Transformation;
import lamprey.transform.Transformer;
import lamprey.transform.types.TypeInfo;
import lamprey.transform.types.Types;

/**
 * Transforms one class at a time. What goes wrong is printed, and the class stays as it is: the JVM would swallow an exception.
 *
 * <p>The class files of a loader's other classes are read as resources, to know what calls lead to; no class is loaded for that.
 */
final class ClassTransformer implements ClassFileTransformer {
    private static final byte[] MARK = Names.SUSPENDABLE.getBytes(StandardCharsets.US_ASCII);

    private final AgentOptions options;
    private final Definer definer;
    private final Loaders loaders;
    /** Whether a class of the packages has come. */
    private volatile boolean found;
    private final Map<ClassLoader, LoaderSource> sources = Collections.synchronizedMap(new WeakHashMap<>());
    private final Map<ClassLoader, Transformer> transformers = Collections.synchronizedMap(new WeakHashMap<>());

    ClassTransformer(AgentOptions options, Definer definer) {
        this.options = options;
        this.definer = definer;
        loaders = new Loaders(options);
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] classFile) {
        if (loader == null || name == null || redefined != null || !isWanted(name, classFile)) {
            return null;
        }
        try {
            // Defined a second time it is an error, by the JVM.
            if (!loaders.areTransformed(loader, name, domain) || definer.isDefined(loader, name)) {
                return null;
            }
            found |= options.isInPackages(name);
            return transform(loader, name, domain, classFile);
        } catch (Throwable t) {
            System.err.println("lamprey-agent: cannot transform " + name.replace('/', '.') + ", which stays as it is: " + t);
            t.printStackTrace();
            return null;
        }
    }

    /** At the end of the JVM: a wrong name would go unnoticed. */
    void reportUnused() {
        if (!found && !loaders.haveComplained()) {
            System.err.println("lamprey-agent: no class of " + options.packages() + " has been loaded, so no thread was light; check packages=");
        }
    }

    private boolean isWanted(String name, byte[] classFile) {
        if (Types.isJdk(name) || name.startsWith(Names.PACKAGE) || name.startsWith("lamprey/agent/") || name.contains("$pico")
            || options.isExcluded(name)) {
            return false;
        }
        return (options.isInPackages(name) || !name.startsWith("lamprey/") && mentions(classFile)) && !isProxy(name, classFile);
    }

    /** The JDK puts proxies of interfaces that are not public into their package; JDK 8 gives them class files of Java 5. Their handlers cannot wait in any case. */
    private static boolean isProxy(String name, byte[] classFile) {
        return name.startsWith("$Proxy", name.lastIndexOf('/') + 1) && "java/lang/reflect/Proxy".equals(TypeInfo.of(classFile).superName);
    }

    private static boolean mentions(byte[] classFile) {
        for (int i = 0; i + MARK.length <= classFile.length; i++) {
            int k = 0;
            while (k < MARK.length && classFile[i + k] == MARK[k]) {
                k++;
            }
            if (k == MARK.length) {
                return true;
            }
        }
        return false;
    }

    /** One for the packages of a loader; it has read the marks of the class path. */
    private Transformer transformer(ClassLoader loader, String name) {
        LoaderSource source = sources.computeIfAbsent(loader, LoaderSource::new);
        return options.isInPackages(name) ? transformers.computeIfAbsent(loader, l -> new Transformer(options.forClass(name), source))
            : new Transformer(options.forClass(name), source);
    }

    private byte[] transform(ClassLoader loader, String name, ProtectionDomain domain, byte[] classFile) {
        Transformation t = transformer(loader, name).transform(Collections.singletonMap(name, classFile));
        if (!t.refusals.isEmpty()) {
            System.err.println("lamprey-agent: " + name.replace('/', '.') + " stays as it is:");
            t.refusals.forEach(r -> System.err.println("  " + r));
            return null;
        }
        t.warnings.forEach(w -> System.err.println("lamprey-agent: warning: " + w));
        Map<String, byte[]> generated = new LinkedHashMap<>(t.classes);
        byte[] result = generated.remove(name);
        definer.define(loader, name, generated, domain);
        if (options.verbose && result != null) {
            System.err.println("lamprey-agent: " + name.replace('/', '.') + ": " + t);
        }
        return result;
    }
}
