package lamprey;

/** Writes JSON, into memory. */
final class Json {
    private static final char[] DIGITS = "0123456789abcdef".toCharArray();

    private final StringBuilder out = new StringBuilder();
    /** Whether a comma comes before the next member or element. */
    private boolean comma;

    Json begin(char bracket) {
        separate();
        out.append(bracket);
        comma = false;
        return this;
    }

    Json end(char bracket) {
        out.append(bracket);
        comma = true;
        return this;
    }

    /** Its value follows. */
    Json key(String name) {
        separate();
        quote(name);
        out.append(':');
        comma = false;
        return this;
    }

    /** A text, or null. */
    Json value(String text) {
        separate();
        if (text == null) {
            out.append("null");
        } else {
            quote(text);
        }
        return this;
    }

    Json value(long n) {
        separate();
        out.append(n);
        return this;
    }

    Json value(boolean b) {
        separate();
        out.append(b);
        return this;
    }

    Json member(String name, String text) {
        return key(name).value(text);
    }

    Json member(String name, long n) {
        return key(name).value(n);
    }

    /** Null if it is negative, which stands for not known. */
    Json known(String name, long n) {
        return n < 0 ? key(name).value(null) : member(name, n);
    }

    @Override
    public String toString() {
        return out.toString();
    }

    private void separate() {
        if (comma) {
            out.append(',');
        }
        comma = true;
    }

    private void quote(String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (Character.isSurrogate(c) && !isPair(text, i)) {
                // Half a character: many readers refuse the whole text if it is there, even as an escape.
                out.append('\ufffd');
            } else if (c < ' ' || c >= 0x7f && c < 0xa0 || c == '\u2028' || c == '\u2029') {
                out.append("\\u").append(DIGITS[c >> 12]).append(DIGITS[c >> 8 & 15]).append(DIGITS[c >> 4 & 15]).append(DIGITS[c & 15]);
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    private static boolean isPair(String text, int i) {
        return Character.isHighSurrogate(text.charAt(i)) ? i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1)) : i > 0 && Character.isHighSurrogate(text.charAt(i - 1));
    }
}
