package lamprey.transform.types;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import lamprey.transform.ClassSource;
import org.objectweb.asm.Opcodes;

/**
 * All classes that are known: those of the module, those of the class path, read when they are asked for, and those of the JDK. Class files of the JDK
 * are never read, as a new JDK's could not be: its classes are asked by reflection.
 */
public final class Types {
    private static final String[] JDK_ONLY = {"java/", "jdk/", "sun/"};
    private static final String[] JDK_FIRST = {"javax/", "com/sun/", "org/w3c/", "org/xml/", "org/ietf/", "netscape/"};

    private static final ClassLoader PLATFORM = ClassLoader.getSystemClassLoader().getParent();
    /** Of the JDK that runs; an agent asks for each class. */
    private static final Map<String, TypeInfo> JDK = new ConcurrentHashMap<>();

    private final Map<String, TypeInfo> known = new HashMap<>();
    private final Map<String, TypeInfo> resolved = new HashMap<>();
    private final Map<String, Set<String>> supertypes = new HashMap<>();
    private final ClassSource source;
    private final UnaryOperator<TypeInfo> adapt;

    /** With a class path; {@code adapt} is applied to its classes. */
    public Types(ClassSource source, UnaryOperator<TypeInfo> adapt) {
        this.source = source;
        this.adapt = adapt;
    }

    /** Adds a class, or replaces it. */
    public void put(TypeInfo t) {
        known.put(t.name, t);
        resolved.clear();
        supertypes.clear();
    }

    /** Those that have been added. */
    public Collection<TypeInfo> known() {
        return known.values();
    }

    /** The class; null if it is not found. An array is an Object. */
    public TypeInfo get(String name) {
        if (name.startsWith("[")) {
            return get("java/lang/Object");
        }
        TypeInfo t = known.get(name);
        if (t == null && !known.containsKey(name)) {
            t = load(name);
            known.put(name, t);
        }
        return t;
    }

    private TypeInfo load(String name) {
        boolean only = startsWith(name, JDK_ONLY);
        if (only || startsWith(name, JDK_FIRST)) {
            TypeInfo t = reflect(name);
            if (t != null || only) {
                return t;
            }
        }
        byte[] classFile = source.find(name);
        return classFile == null ? reflect(name) : adapt.apply(TypeInfo.of(classFile));
    }

    /** Whether it is in a package of the JDK, judging by its name. */
    public static boolean isJdk(String name) {
        return startsWith(name, JDK_ONLY) || startsWith(name, JDK_FIRST);
    }

    private static boolean startsWith(String name, String[] prefixes) {
        for (String p : prefixes) {
            if (name.startsWith(p)) {
                return true;
            }
        }
        return false;
    }

    private static TypeInfo reflect(String name) {
        TypeInfo t = JDK.get(name);
        if (t == null) {
            try {
                t = TypeInfo.of(Class.forName(name.replace('/', '.'), false, PLATFORM));
                JDK.put(name, t);
            } catch (ClassNotFoundException | LinkageError e) {
                return null;
            }
        }
        return t;
    }

    /** The class or interface that declares the method which a call with this owner names; null if it is not found. */
    public TypeInfo resolve(String owner, String key) {
        String call = owner + "." + key;
        TypeInfo t = resolved.get(call);
        if (t == null && !resolved.containsKey(call)) {
            t = find(owner, key);
            resolved.put(call, t);
        }
        return t;
    }

    private TypeInfo find(String owner, String key) {
        for (TypeInfo t = get(owner); t != null; t = t.superName == null ? null : get(t.superName)) {
            if (t.methods.containsKey(key)) {
                return t;
            }
            if (key.startsWith("<init>")) {
                return null;
            }
        }
        TypeInfo found = null;
        for (String name : supertypes(owner)) {
            TypeInfo t = get(name);
            boolean declares = t != null && t.isInterface() && t.methods.containsKey(key) && !t.is(key, Opcodes.ACC_STATIC | Opcodes.ACC_PRIVATE);
            boolean hasCode = declares && !t.is(key, Opcodes.ACC_ABSTRACT);
            if (declares && (found == null || hasCode && (found.is(key, Opcodes.ACC_ABSTRACT) || isSubtype(name, found.name)))) {
                found = t;
            }
        }
        return found;
    }

    /** The class itself, its super classes and all interfaces, as far as they are known. */
    public Set<String> supertypes(String name) {
        Set<String> all = supertypes.get(name);
        if (all == null) {
            all = new LinkedHashSet<>();
            Deque<String> next = new ArrayDeque<>();
            next.add(name);
            while (!next.isEmpty()) {
                String n = next.remove();
                TypeInfo t = all.add(n) ? get(n) : null;
                if (t != null) {
                    next.addAll(t.interfaces);
                    next.add(t.superName == null ? "java/lang/Object" : t.superName);
                }
            }
            supertypes.put(name, all);
        }
        return all;
    }

    /** Whether the one is the other, or extends or implements it. */
    public boolean isSubtype(String name, String of) {
        return supertypes(name).contains(of);
    }
}
