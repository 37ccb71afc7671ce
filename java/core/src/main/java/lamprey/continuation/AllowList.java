package lamprey.continuation;

import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Which classes a serialised continuation may name. It is asked by name, before a class is loaded.
 *
 * <p>Allowed are: generated frame classes, in the packages that the program has named for frames; a list of plain values of the JDK; the classes and
 * packages that the program has added; arrays of all these. Immutable.
 */
final class AllowList {
    static final AllowList VALUES = new AllowList(jdkValues(), Collections.emptySet(), Collections.emptySet());

    private static final Pattern FRAME = Pattern.compile(".*\\$pico[0-9]+");

    private final Set<String> classes;
    private final Set<String> packages;
    private final Set<String> framePackages;

    private AllowList(Set<String> classes, Set<String> packages, Set<String> framePackages) {
        this.classes = classes;
        this.packages = packages;
        this.framePackages = framePackages;
    }

    AllowList withClass(String name) {
        return new AllowList(plus(classes, name), packages, framePackages);
    }

    AllowList withPackage(String name) {
        return new AllowList(classes, plus(packages, checked(name)), framePackages);
    }

    AllowList withFrames(String name) {
        // The unnamed package, in which small programs are; not all packages.
        return new AllowList(classes, packages, plus(framePackages, name.isEmpty() ? name : checked(name)));
    }

    private static String checked(String name) {
        if (name.endsWith(".") || name.indexOf('*') >= 0) {
            throw new IllegalArgumentException("\"" + name + "\" is no package name; write com.example, which includes the packages below it, or \"\" for the unnamed one");
        }
        return name;
    }

    private static Set<String> plus(Set<String> set, String element) {
        Set<String> more = new HashSet<>(set);
        more.add(element);
        return more;
    }

    /** Throws unless a class of this name may be read. */
    void check(String name) throws RefusedException {
        String element = element(name);
        if (element == null || classes.contains(element)) {
            return;
        }
        if (FRAME.matcher(element).matches()) {
            if (!within(framePackages, element)) {
                throw refused(element + " is the frame of a method; its package is not allowed: allowFrames(\"" + packageOf(element) + "\")");
            }
        } else if (!within(packages, element)) {
            throw refused("objects of " + element + " are not allowed: allow(" + literal(element) + ") in both codecs");
        }
    }

    /** How source code names the class: one that is nested, or the JDK's own, perhaps only by a string. */
    private static String literal(String name) {
        return name.indexOf('$') < 0 && isPublicOrNotOfJdk(name) ? name.substring(name.lastIndexOf('.') + 1) + ".class" : "Class.forName(\"" + name + "\")";
    }

    /** A class of the JDK may be loaded to know that; others are not. */
    private static boolean isPublicOrNotOfJdk(String name) {
        try {
            Class<?> c = Class.forName(name, false, null);
            return Modifier.isPublic(c.getModifiers()) && name.startsWith("java");
        } catch (ClassNotFoundException | LinkageError e) {
            return true;
        }
    }

    static boolean isFrame(String name) {
        return FRAME.matcher(name).matches();
    }

    private static RefusedException refused(String message) {
        return new RefusedException(RefusedException.Reason.NOT_ALLOWED, message);
    }

    /** The element class of an array, the name itself otherwise; null for elements of a primitive type. */
    private static String element(String name) {
        int at = name.lastIndexOf('[') + 1;
        if (at == 0) {
            return name;
        }
        return name.charAt(at) == 'L' ? name.substring(at + 1, name.length() - 1) : null;
    }

    private static String packageOf(String name) {
        return name.substring(0, Math.max(0, name.lastIndexOf('.')));
    }

    private static boolean within(Set<String> packages, String name) {
        for (String p = packageOf(name); !p.isEmpty(); p = packageOf(p)) {
            if (packages.contains(p)) {
                return true;
            }
        }
        return packages.contains("") && packageOf(name).isEmpty();
    }

    private static Set<String> jdkValues() {
        return new HashSet<>(Arrays.asList(
            "lamprey.instrument.Frame", "lamprey.instrument.Reflection$Call",
            "java.lang.Object", "java.lang.String", "java.lang.Number", "java.lang.Enum", "java.lang.Boolean", "java.lang.Byte",
            "java.lang.Character", "java.lang.Short", "java.lang.Integer", "java.lang.Long", "java.lang.Float", "java.lang.Double",
            "java.lang.StringBuilder", "java.lang.StringBuffer",
            "java.math.BigInteger", "java.math.BigDecimal", "java.math.RoundingMode",
            "java.time.Ser", "java.net.URI", "java.util.UUID", "java.util.Date", "java.util.BitSet", "java.util.Locale",
            "java.util.ArrayList", "java.util.LinkedList", "java.util.ArrayDeque", "java.util.Arrays$ArrayList", "java.util.CollSer",
            "java.util.HashMap", "java.util.LinkedHashMap", "java.util.TreeMap",
            "java.util.HashSet", "java.util.LinkedHashSet", "java.util.TreeSet",
            "java.util.Collections$EmptyList", "java.util.Collections$EmptySet", "java.util.Collections$EmptyMap",
            "java.util.Collections$SingletonList", "java.util.Collections$SingletonSet", "java.util.Collections$SingletonMap",
            "java.util.concurrent.TimeUnit", "java.util.concurrent.atomic.AtomicInteger", "java.util.concurrent.atomic.AtomicLong",
            "java.util.concurrent.atomic.AtomicBoolean", "java.util.concurrent.atomic.AtomicReference"));
    }
}
