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
    final int code;
    final String reason;
    final boolean version11;

    private HttpHead(String status) throws IOException {
        names.add(null);
        values.add(status);
        String[] parts = status.split(" +", 3);
        if (!status.startsWith("HTTP/1.") || parts.length < 2 || !parts[1].matches("\\d{3}")) {
            throw new IOException("Invalid Http response: \"" + (status.length() > 80 ? status.substring(0, 80) : status) + "\"");
        }
        version11 = !parts[0].equals("HTTP/1.0");
        code = Integer.parseInt(parts[1]);
        reason = parts.length < 3 ? "" : parts[2].trim();
    }

    /** Reads one. Null if there is not a single byte. Blocks. */
    static HttpHead read(InputStream in) throws IOException {
        int[] budget = {MOST_BYTES};
        String status = line(in, budget);
        if (status == null) {
            return null;
        }
        HttpHead head = new HttpHead(status);
        String line;
        while ((line = line(in, budget)) != null && !line.isEmpty()) {
            head.add(line);
        }
        if (line == null) {
            throw new IOException("the connection ended within the head of a response");
        }
        return head;
    }

    private void add(String line) {
        char first = line.charAt(0);
        int last = values.size() - 1;
        if ((first == ' ' || first == '\t') && last > 0) {
            values.set(last, values.get(last) + " " + line.trim());
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

    Map<String, List<String>> all() {
        Map<String, List<String>> all = new LinkedHashMap<>();
        for (int i = 0; i < names.size(); i++) {
            all.computeIfAbsent(names.get(i), n -> new ArrayList<>()).add(values.get(i));
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
