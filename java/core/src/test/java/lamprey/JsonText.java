package lamprey;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads JSON as strictly as the strictest reader: nothing unseen stands in a text as itself, and no half of a character in any way. */
final class JsonText {
    private static final Pattern TEXT = Pattern.compile("\"((?:[^\"\\\\\\x00-\\x1f]|\\\\(?:[\"\\\\/bfnrt]|u[0-9a-f]{4}))*)\"");
    private static final Pattern WORD = Pattern.compile("-?\\d+|true|false|null");
    private static final Pattern ESCAPE = Pattern.compile("\\\\(u([0-9a-f]{4})|.)");

    private final String text;
    private int at;

    private JsonText(String text) {
        this.text = text;
    }

    /** Maps, lists, texts; other values as they are written, but null. */
    static Object parse(String text) {
        JsonText j = new JsonText(text);
        Object value = j.value();
        if (j.at != text.length()) {
            throw j.wrong();
        }
        return value;
    }

    private AssertionError wrong() {
        return new AssertionError("no JSON at " + at + ": " + text);
    }

    private boolean takes(char c) {
        boolean is = at < text.length() && text.charAt(at) == c;
        at += is ? 1 : 0;
        return is;
    }

    private void take(char c) {
        if (!takes(c)) {
            throw wrong();
        }
    }

    private Matcher next(Pattern p) {
        Matcher m = p.matcher(text).region(at, text.length());
        if (!m.lookingAt()) {
            throw wrong();
        }
        at = m.end();
        return m;
    }

    private String text() {
        String raw = next(TEXT).group(1);
        StringBuffer out = new StringBuffer();
        Matcher m = ESCAPE.matcher(raw);
        while (m.find()) {
            String one = m.group(2) == null ? m.group(1) : String.valueOf((char) Integer.parseInt(m.group(2), 16));
            m.appendReplacement(out, Matcher.quoteReplacement(one));
        }
        String read = m.appendTail(out).toString();
        if (read.codePoints().anyMatch(c -> Character.getType(c) == Character.SURROGATE)) {
            throw wrong();
        }
        return read;
    }

    private Object value() {
        if (takes('{')) {
            Map<String, Object> all = new LinkedHashMap<>();
            while (!takes('}')) {
                if (!all.isEmpty()) {
                    take(',');
                }
                String key = text();
                take(':');
                if (all.put(key, value()) != null) {
                    throw wrong();
                }
            }
            return all;
        }
        if (takes('[')) {
            List<Object> all = new ArrayList<>();
            while (!takes(']')) {
                if (!all.isEmpty()) {
                    take(',');
                }
                all.add(value());
            }
            return all;
        }
        if (at < text.length() && text.charAt(at) == '"') {
            return text();
        }
        String word = next(WORD).group();
        return word.equals("null") ? null : word;
    }
}
