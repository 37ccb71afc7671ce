package lamprey;

/**
 * What a program has chosen, its names above all, as it may be printed. Nothing in it ends a line, moves a cursor, turns the direction of the text, or cannot be encoded.
 */
final class Shown {
    private Shown() {}

    /** With what is not seen as an escape of Java: {@code \n}, {@code \}{@code u001b}. */
    static String plain(String text) {
        return escaped(text, false);
    }

    /** In quotation marks, which it does not end. */
    static String quoted(String text) {
        return '"' + escaped(text, true) + '"';
    }

    private static String escaped(String text, boolean quoted) {
        StringBuilder out = null;
        for (int i = 0, n; i < text.length(); i += n) {
            int c = text.codePointAt(i);
            n = Character.charCount(c);
            boolean mark = quoted && (c == '"' || c == '\\');
            if (out == null && (mark || isUnseen(c))) {
                out = new StringBuilder(text.length() + 16).append(text, 0, i);
            }
            if (mark) {
                out.append('\\').append((char) c);
            } else if (isUnseen(c)) {
                for (int k = i; k < i + n; k++) {
                    escape(out, text.charAt(k));
                }
            } else if (out != null) {
                out.appendCodePoint(c);
            }
        }
        return out == null ? text : out.toString();
    }

    private static void escape(StringBuilder out, char c) {
        if (c == '\n' || c == '\r' || c == '\t') {
            out.append(c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
        } else {
            out.append(String.format("\\u%04x", (int) c));
        }
    }

    private static boolean isUnseen(int c) {
        switch (Character.getType(c)) {
            case Character.CONTROL:
            case Character.FORMAT:
            case Character.LINE_SEPARATOR:
            case Character.PARAGRAPH_SEPARATOR:
            case Character.SURROGATE:
                return true;
            default:
                return false;
        }
    }
}
