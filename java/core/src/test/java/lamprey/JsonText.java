package lamprey;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads JSON far enough to know that it is some. */
final class JsonText {
    private static final Pattern SCALAR = Pattern.compile("\"(?:[^\"\\\\\\x00-\\x1f]|\\\\(?:[\"\\\\/bfnrt]|u[0-9a-f]{4}))*\"|-?\\d+|true|false|null");

    private final Matcher scalar;
    private final String text;
    private int at;

    private JsonText(String text) {
        this.text = text;
        scalar = SCALAR.matcher(text);
    }

    /** Where the value ends that the text begins with; negative if it is none. */
    static int end(String text) {
        JsonText j = new JsonText(text);
        return j.value() ? j.at : -1;
    }

    private boolean takes(char c) {
        boolean is = at < text.length() && text.charAt(at) == c;
        at += is ? 1 : 0;
        return is;
    }

    private boolean scalar() {
        boolean is = scalar.find(at) && scalar.start() == at;
        at = is ? scalar.end() : at;
        return is;
    }

    private boolean value() {
        boolean object = takes('{');
        if (!object && !takes('[')) {
            return scalar();
        }
        char end = object ? '}' : ']';
        if (takes(end)) {
            return true;
        }
        do {
            if (object && !(scalar() && takes(':')) || !value()) {
                return false;
            }
        } while (takes(','));
        return takes(end);
    }
}
