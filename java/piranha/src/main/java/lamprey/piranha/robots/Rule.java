package lamprey.piranha.robots;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** A line of robots.txt: whether the paths that its pattern matches are allowed. {@code *} stands for any characters, {@code $} at the end for the end. */
final class Rule {
    private static final String UNRESERVED = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";

    final boolean allow;
    private final String pattern;
    private final boolean toTheEnd;
    private final int length;

    Rule(boolean allow, String written) {
        this.allow = allow;
        this.toTheEnd = written.endsWith("$");
        this.pattern = normal(toTheEnd ? written.substring(0, written.length() - 1) : written).replace("$", "%24");
        this.length = pattern.length() + (toTheEnd ? 1 : 0);
    }

    /** How specific it is. */
    int length() {
        return length;
    }

    /** Of a path, the form that {@link #matches} takes: a star or dollar in it is an ordinary character. */
    static String path(String text) {
        return normal(text).replace("*", "%2A").replace("$", "%24");
    }

    /**
     * Matches without going back further than to the last {@code *}: that is enough for patterns of this form, and no pattern takes longer than
     * its length times that of the path.
     */
    boolean matches(String path) {
        int p = 0;
        int t = 0;
        int star = -1;
        int from = 0;
        while (true) {
            if (p == pattern.length() && (!toTheEnd || t == path.length())) {
                return true;
            }
            if (p < pattern.length() && pattern.charAt(p) == '*') {
                star = p++;
                from = t;
            } else if (p < pattern.length() && t < path.length() && pattern.charAt(p) == path.charAt(t)) {
                p++;
                t++;
            } else if (star >= 0 && from < path.length()) {
                p = star + 1;
                t = ++from;
            } else {
                return false;
            }
        }
    }

    /** Percent-encodes what is not ASCII, decodes what need not be encoded: pattern and path are compared in this form (RFC 9309, 2.2.2). */
    static String normal(String text) {
        StringBuilder out = new StringBuilder(text.length());
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < bytes.length; i++) {
            int b = bytes[i] & 0xff;
            if (b == '%' && i + 2 < bytes.length && Character.digit(bytes[i + 1], 16) >= 0 && Character.digit(bytes[i + 2], 16) >= 0) {
                int value = Character.digit(bytes[i + 1], 16) * 16 + Character.digit(bytes[i + 2], 16);
                i += 2;
                append(out, value, UNRESERVED.indexOf(value) >= 0);
            } else {
                append(out, b, b > ' ' && b < 0x7f);
            }
        }
        return out.toString();
    }

    private static void append(StringBuilder out, int value, boolean plain) {
        if (plain) {
            out.append((char) value);
        } else {
            out.append('%').append(String.format(Locale.ROOT, "%02X", value));
        }
    }
}
