package lamprey.io;

import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.CharBuffer;
import java.nio.ReadOnlyBufferException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The methods of {@link Reader} that only call others. The JDK's own forms would stand between two transformed methods, so each reader of
 * this package overrides them with these. They block as the read or write that they call.
 */
final class Texts {
    private static final int CHUNK = 8192;

    private Texts() {}

    static int read(Reader in) throws IOException {
        char[] one = new char[1];
        return in.read(one, 0, 1) < 0 ? -1 : one[0];
    }

    static int read(Reader in, CharBuffer target) throws IOException {
        if (target.isReadOnly()) {
            throw new ReadOnlyBufferException();
        }
        int room = target.remaining();
        char[] chars = new char[Math.min(room, CHUNK)];
        int total = 0;
        do {
            int n = in.read(chars, 0, Math.min(room - total, chars.length));
            if (n < 0) {
                return total == 0 ? -1 : total;
            }
            target.put(chars, 0, n);
            total += n;
        } while (total < room && in.ready());
        return total;
    }

    static long skip(Reader in, long n) throws IOException {
        if (n < 0) {
            throw new IllegalArgumentException("skip value is negative");
        }
        char[] chars = new char[(int) Math.min(n, CHUNK)];
        long left = n;
        while (left > 0) {
            int count = in.read(chars, 0, (int) Math.min(left, chars.length));
            if (count < 0) {
                break;
            }
            left -= count;
        }
        return n - left;
    }

    static long transferTo(Reader in, Writer out) throws IOException {
        if (out == null) {
            throw new NullPointerException("out");
        }
        char[] chars = new char[CHUNK];
        long total = 0;
        int n;
        while ((n = in.read(chars, 0, CHUNK)) >= 0) {
            out.write(chars, 0, n);
            total += n;
        }
        return total;
    }

    static String readAllAsString(Reader in) throws IOException {
        StringBuilder all = new StringBuilder();
        char[] chars = new char[CHUNK];
        int n;
        while ((n = in.read(chars, 0, CHUNK)) >= 0) {
            all.append(chars, 0, n);
        }
        return all.toString();
    }

    static List<String> readAllLines(Reader in) throws IOException {
        String all = readAllAsString(in);
        List<String> lines = new ArrayList<>();
        int start = 0;
        while (start < all.length()) {
            int end = start;
            while (end < all.length() && all.charAt(end) != '\n' && all.charAt(end) != '\r') {
                end++;
            }
            lines.add(all.substring(start, end));
            start = all.startsWith("\r\n", end) ? end + 2 : end + 1;
        }
        return Collections.unmodifiableList(lines);
    }

    /** The text that {@link Writer#append(CharSequence, int, int)} writes. */
    static String text(CharSequence s, int start, int end) {
        return (s == null ? "null" : s).subSequence(start, end).toString();
    }
}
