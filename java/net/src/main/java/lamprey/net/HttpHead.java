package lamprey.net;

import java.io.IOException;
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
        int at = status.indexOf(' ');
        while (at >= 0 && at + 1 < status.length() && status.charAt(at + 1) == ' ') {
            at++;
        }
        boolean http = status.startsWith("HTTP/1.");
        code = http && at >= 0 ? code(status, at + 1) : -1;
        version11 = http && !status.startsWith("HTTP/1.0 ");
        int behind = http && at >= 0 ? status.indexOf(' ', at + 1) : -1;
        reason = behind < 0 ? null : status.substring(behind + 1).trim();
    }

    /** The first line, cut. */
    String status(int most) {
        String status = values.get(0);
        return status.length() > most ? status.substring(0, most) : status;
    }

    /** Three digits, and then the end or a space; else -1. */
    private static int code(String s, int at) {
        if (s.length() < at + 3 || s.length() > at + 3 && s.charAt(at + 3) != ' ') {
            return -1;
        }
        int n = 0;
        for (int i = at; i < at + 3; i++) {
            char c = s.charAt(i);
            if (c < '0' || c > '9') {
                return -1;
            }
            n = n * 10 + c - '0';
        }
        return n;
    }

    /** Reads one. Null if there is not a single byte; ends also where the connection does, as in the JDK. Blocks. */
    static HttpHead read(HttpInput in) throws IOException {
        int[] budget = {MOST_BYTES};
        String status = in.line(budget);
        if (status == null) {
            return null;
        }
        HttpHead head = new HttpHead(status);
        if (!status.startsWith("HTTP/1.")) {
            return head;
        }
        String line;
        while ((line = in.line(budget)) != null && !line.isEmpty()) {
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
