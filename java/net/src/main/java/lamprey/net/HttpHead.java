package lamprey.net;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The status line and the fields of a response. The field at index 0 is the status line and has no name, as the JDK counts. */
final class HttpHead {
    private static final int MOST_BYTES = 384 * 1024;

    private final List<String> names = new ArrayList<>();
    private final List<String> values = new ArrayList<>();
    /** -1 if the first line is no status line. */
    final int code;
    /** Null if there is none. */
    final String reason;
    final boolean version11;

    private HttpHead(String status) {
        names.add(null);
        values.add(status);
        String[] parts = status.split(" +", 3);
        boolean http = status.startsWith("HTTP/1.");
        version11 = http && !parts[0].equals("HTTP/1.0");
        code = http && parts.length > 1 && parts[1].matches("\\d{3}") ? Integer.parseInt(parts[1]) : -1;
        reason = http && parts.length > 2 ? parts[2].trim() : null;
    }

    /** The first line, cut. */
    String status(int most) {
        String status = values.get(0);
        return status.length() > most ? status.substring(0, most) : status;
    }

    /** Reads one. Null if there is not a single byte; ends also where the connection does, as in the JDK. Blocks. */
    static HttpHead read(InputStream in) throws IOException {
        int[] budget = {MOST_BYTES};
        String status = line(in, budget);
        if (status == null) {
            return null;
        }
        HttpHead head = new HttpHead(status);
        if (!status.startsWith("HTTP/1.")) {
            return head;
        }
        String line;
        while ((line = line(in, budget)) != null && !line.isEmpty()) {
            head.add(line);
        }
        return head;
    }

    private void add(String line) {
        char first = line.charAt(0);
        int last = values.size() - 1;
        if ((first == ' ' || first == '\t') && last > 0) {
            values.set(last, (values.get(last) + line.replace('\t', ' ')).trim());
            return;
        }
        int colon = line.indexOf(':');
        names.add(colon < 0 ? line.trim() : line.substring(0, colon).trim());
        values.add(colon < 0 ? "" : line.substring(colon + 1).trim());
    }

    /** A line without its end; null at the end of the stream. Blocks. */
    static String line(InputStream in, int[] budget) throws IOException {
        StringBuilder line = new StringBuilder();
        int c;
        while ((c = in.read()) >= 0 && c != '\n') {
            line.append((char) c);
            if (--budget[0] < 0) {
                throw new IOException("the head of a response has more than " + MOST_BYTES + " bytes");
            }
        }
        if (c < 0 && line.length() == 0) {
            return null;
        }
        int n = line.length();
        if (n > 0 && line.charAt(n - 1) == '\r') {
            line.setLength(n - 1);
        }
        return line.toString();
    }

    /** The last value of a field; null if there is none. */
    String get(String name) {
        for (int i = names.size() - 1; i >= 0; i--) {
            if (name == null ? i == 0 : name.equalsIgnoreCase(names.get(i))) {
                return values.get(i);
            }
        }
        return null;
    }

    String nameAt(int i) {
        return i < 0 || i >= names.size() ? null : names.get(i);
    }

    String valueAt(int i) {
        return i < 0 || i >= values.size() ? null : values.get(i);
    }

    /** The values of a name last first, as the JDK has them. */
    Map<String, List<String>> all() {
        Map<String, List<String>> all = new LinkedHashMap<>();
        for (int i = 0; i < names.size(); i++) {
            all.computeIfAbsent(names.get(i), n -> new ArrayList<>()).add(0, values.get(i));
        }
        all.replaceAll((n, list) -> Collections.unmodifiableList(list));
        return Collections.unmodifiableMap(all);
    }

    boolean has(String name, String token) {
        String value = get(name);
        if (value != null) {
            for (String t : value.split(",")) {
                if (t.trim().equalsIgnoreCase(token)) {
                    return true;
                }
            }
        }
        return false;
    }
}
