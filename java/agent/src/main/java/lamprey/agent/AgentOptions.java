package lamprey.agent;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lamprey.transform.Mode;
import lamprey.transform.Options;
import lamprey.transform.Patterns;

/** The options of the agent. */
final class AgentOptions {
    private static final String KNOWN = "known are packages=, exclude=, mode=, rewrite=, verbose=, separated by semicolons";

    private final Options options = new Options();
    boolean verbose;

    private AgentOptions() {}

    static AgentOptions parse(String text) {
        AgentOptions o = new AgentOptions();
        o.options.partial = true;
        for (String part : text.split(";")) {
            if (!part.trim().isEmpty()) {
                int equals = part.indexOf('=');
                if (equals < 0) {
                    throw new IllegalArgumentException("the option \"" + part + "\" has no value; " + KNOWN);
                }
                o.set(part.substring(0, equals).trim(), part.substring(equals + 1).trim());
            }
        }
        return o;
    }

    private void set(String name, String value) {
        switch (name) {
            case "packages":
                add(options.includes, value);
                break;
            case "exclude":
                add(options.excludes, value);
                break;
            case "mode":
                options.mode = Mode.named(value);
                break;
            case "rewrite":
                options.rewrite = bool(name, value);
                break;
            case "verbose":
                verbose = bool(name, value);
                break;
            default:
                throw new IllegalArgumentException("the option " + name + " is unknown; " + KNOWN);
        }
    }

    private static void add(List<String> patterns, String value) {
        for (String p : value.split(",")) {
            if (p.trim().isEmpty()) {
                continue;
            }
            patterns.add(p.trim());
            if (!p.contains("*")) {
                patterns.add(p.trim() + ".**");
            }
        }
    }

    private static boolean bool(String name, String value) {
        if (!value.equals("true") && !value.equals("false")) {
            throw new IllegalArgumentException("" + name + " is " + value + ", not true or false");
        }
        return value.equals("true");
    }

    boolean isExcluded(String internalName) {
        return Patterns.anyMatches(options.excludes, internalName);
    }

    boolean isInPackages(String internalName) {
        return Patterns.anyMatches(options.includes, internalName);
    }

    /** Whether a pattern that names a package, or the class, matches; {@code *} and {@code **} name none. */
    boolean isNamed(String internalName) {
        List<String> named = new ArrayList<>(options.includes);
        named.removeAll(Arrays.asList("*", "**"));
        return Patterns.anyMatches(named, internalName);
    }

    /** The patterns of the packages; empty if none is given. */
    List<String> packages() {
        return options.includes;
    }

    /** For a class of the packages, or for one that is transformed because of its annotations. */
    Options forClass(String internalName) {
        Options o = new Options();
        o.mode = options.mode;
        o.rewrite = options.rewrite;
        o.excludes.addAll(options.excludes);
        o.includes.addAll(options.includes);
        o.partial = true;
        o.everything = isInPackages(internalName);
        if (!o.everything) {
            o.includes.add(internalName);
        }
        return o;
    }
}
