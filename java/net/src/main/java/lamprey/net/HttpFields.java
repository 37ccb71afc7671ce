package lamprey.net;

import java.net.MalformedURLException;
import java.net.URL;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The fields of a request, in the order in which they were set. Invariant: no name or value ends its line, so what a program sets stays within its field; and fields that
 * say where a message goes or ends are not the program's, as in the JDK: they are dropped, unless {@code sun.net.http.allowRestrictedHeaders} is true.
 */
final class HttpFields {
    private static final Set<String> RESTRICTED = new HashSet<>(Arrays.asList("access-control-request-headers", "access-control-request-method", "connection",
        "content-length", "content-transfer-encoding", "host", "keep-alive", "origin", "trailer", "transfer-encoding", "upgrade", "via"));
    private static final boolean ALLOW = Boolean.getBoolean("sun.net.http.allowRestrictedHeaders");
    /** Not told to whoever asks for the fields. */
    private static final Set<String> SECRET = new HashSet<>(Arrays.asList("authorization", "proxy-authorization"));

    private final List<String> names = new ArrayList<>();
    private final List<String> values = new ArrayList<>();

    /** @throws MalformedURLException if the URL would end the request line, or its host is none */
    static void check(URL url) throws MalformedURLException {
        String text = url.toExternalForm();
        if (text.indexOf('\n') >= 0 || text.indexOf('\r') >= 0) {
            throw new MalformedURLException("Illegal character in URL");
        }
        String host = url.getHost();
        for (int i = 0; i < host.length() && !host.startsWith("["); i++) {
            char c = host.charAt(i);
            if (c <= ' ' || c == 0x7f || "<>\"\\^`{|}#?/@".indexOf(c) >= 0) {
                throw new MalformedURLException("Illegal character in host: " + host);
            }
        }
        if (url.getPort() > 0xffff) {
            throw new IllegalArgumentException("port out of range:" + url.getPort());
        }
    }

    private static boolean endsLine(String value) {
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '\r' && i + 1 < value.length() && value.charAt(i + 1) == '\n') {
                continue;
            }
            boolean folded = c == '\n' && i + 1 < value.length() && (value.charAt(i + 1) == ' ' || value.charAt(i + 1) == '\t');
            if ((c == '\n' || c == '\r') && !folded) {
                return true;
            }
        }
        return false;
    }

    /** Whether a program may set this. @throws IllegalArgumentException if it can be no field at all */
    private static boolean allowed(String name, String value) {
        if (name.indexOf('\n') >= 0 || name.indexOf('\r') >= 0 || name.indexOf(':') >= 0) {
            throw new IllegalArgumentException("Illegal character(s) in message header field: " + name);
        }
        if (value != null && endsLine(value)) {
            throw new IllegalArgumentException("Illegal character(s) in message header value: " + value);
        }
        String n = name.toLowerCase(Locale.ROOT);
        return ALLOW || !(RESTRICTED.contains(n) || n.startsWith("sec-")) || n.equals("connection") && "close".equals(value);
    }

    /** As the program says: the last field of this name gets the value. */
    void set(String name, String value) {
        if (allowed(name, value)) {
            put(name, value);
        }
    }

    /** As the program says: another field. */
    void add(String name, String value) {
        if (allowed(name, value)) {
            names.add(name);
            values.add(value);
        }
    }

    /** As HTTP has it. */
    void put(String name, String value) {
        int i = last(name);
        if (i >= 0) {
            values.set(i, value);
        } else {
            names.add(name);
            values.add(value);
        }
    }

    void putIfAbsent(String name, String value) {
        if (last(name) < 0) {
            put(name, value);
        }
    }

    void remove(String name) {
        for (int i = last(name); i >= 0; i = last(name)) {
            names.remove(i);
            values.remove(i);
        }
    }

    private int last(String name) {
        int i = names.size() - 1;
        while (i >= 0 && !names.get(i).equalsIgnoreCase(name)) {
            i--;
        }
        return i;
    }

    String get(String name) {
        int i = name == null ? -1 : last(name);
        return i < 0 ? null : values.get(i);
    }

    /** What the program is told. */
    String told(String name) {
        return name == null || SECRET.contains(name.toLowerCase(Locale.ROOT)) ? null : get(name);
    }

    /** What the program is told: the values of a name last first, as the JDK has them. */
    Map<String, List<String>> told() {
        Map<String, List<String>> all = new LinkedHashMap<>();
        for (int i = 0; i < names.size(); i++) {
            if (!SECRET.contains(names.get(i).toLowerCase(Locale.ROOT))) {
                all.computeIfAbsent(names.get(i), n -> new ArrayList<>()).add(0, values.get(i));
            }
        }
        all.replaceAll((n, list) -> Collections.unmodifiableList(list));
        return Collections.unmodifiableMap(all);
    }

    void clear() {
        names.clear();
        values.clear();
    }

    HttpFields copy() {
        HttpFields f = new HttpFields();
        f.names.addAll(names);
        f.values.addAll(values);
        return f;
    }

    void appendTo(StringBuilder h) {
        for (int i = 0; i < names.size(); i++) {
            h.append(names.get(i)).append(": ").append(values.get(i) == null ? "" : values.get(i)).append("\r\n");
        }
    }
}
