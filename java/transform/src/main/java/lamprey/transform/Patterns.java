package lamprey.transform;

import java.util.List;
import java.util.regex.Pattern;

/**
 * Patterns of class names: {@code com.foo.**} for a package and all below it, {@code com.foo.*} for a package, {@code com.foo.Bar} for a class and
 * its nested classes. Slashes may stand for dots. After patterns, {@code !com.foo.Bar} takes classes out again: the last that matches decides.
 */
public final class Patterns {
    private Patterns() {}

    /** Whether the last pattern that fits the class is one without {@code !}. */
    public static boolean anyMatches(List<String> patterns, String internalName) {
        boolean in = false;
        for (String pattern : patterns) {
            String p = pattern.trim();
            boolean out = p.startsWith("!");
            if (in == out && matches(out ? p.substring(1) : p, internalName)) {
                in = !out;
            }
        }
        return in;
    }

    private static boolean matches(String pattern, String internalName) {
        String p = pattern.replace('.', '/');
        StringBuilder regex = new StringBuilder();
        for (int i = 0; i < p.length(); i++) {
            if (p.startsWith("**", i)) {
                regex.append(".*");
                i++;
            } else if (p.charAt(i) == '*') {
                regex.append("[^/]*");
            } else {
                regex.append(Pattern.quote(p.substring(i, i + 1)));
            }
        }
        return Pattern.matches(regex + "(\\$.*)?", internalName);
    }
}
