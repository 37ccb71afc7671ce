package lamprey;

import java.io.UnsupportedEncodingException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What is asked of an {@link InspectServer}, by somebody who may ask, as far as that can be known. */
final class InspectRequest {
    /** What no name server can have made up: localhost, and addresses, which end with a number or have colons. */
    private static final Pattern LOCAL = Pattern.compile("(?i)(localhost|\\d{1,3}(\\.\\d{1,3}){3}|\\[[0-9a-f:.]+(%[\\w.-]+)?\\])(:\\d*)?");

    final String path;
    private final Map<String, String> query;

    /** Why a request is not answered. */
    static final class Refused extends Exception {
        private static final long serialVersionUID = 1;
        final int status;

        Refused(int status, String message) {
            super(message);
            this.status = status;
        }
    }

    /** The head of a request, as far as it matters. */
    static final class Head {
        /** Most headers of a request. */
        private static final int HEADERS = 64;
        private static final Pattern FIRST = Pattern.compile("([A-Za-z-]{1,32}) ([!-~]+) HTTP/1\\.([01])");
        private static final Pattern HEADER = Pattern.compile("([\\w!#$%&'*+.^`|~-]+):[ \\t]*([^\\x00-\\x08\\x0a-\\x1f\\x7f]*)");

        private final String target;
        private final Map<String, List<String>> headers = new HashMap<>();
        /** HTTP/1.1 or later. */
        private final boolean modern;
        final boolean isHead;
        final boolean keepsOpen;

        /** Takes the bytes apart, which are a head with the empty line at its end. */
        static Head parse(byte[] bytes) throws Refused {
            String text = new String(bytes, StandardCharsets.ISO_8859_1);
            int begin = 0;
            while (begin < text.length() && (text.charAt(begin) == '\r' || text.charAt(begin) == '\n')) {
                begin++;
            }
            return new Head(text.substring(begin).split("\r?\n"));
        }

        private Head(String[] lines) throws Refused {
            Matcher first = FIRST.matcher(lines[0]);
            if (!first.matches()) {
                throw new Refused(400, "no request of HTTP/1.1");
            }
            String method = first.group(1);
            if (!method.equals("GET") && !method.equals("HEAD")) {
                throw new Refused(405, "`" + method + "`: only GET is answered");
            }
            if (lines.length > HEADERS + 1) {
                throw new Refused(431, "more than " + HEADERS + " headers");
            }
            for (int i = 1; i < lines.length; i++) {
                Matcher m = HEADER.matcher(lines[i]);
                if (!m.matches()) {
                    throw new Refused(400, "no request of HTTP/1.1: line " + (i + 1) + " is no header");
                }
                headers.computeIfAbsent(m.group(1).toLowerCase(Locale.ROOT), k -> new ArrayList<>()).add(m.group(2).trim());
            }
            if (!all("transfer-encoding").isEmpty() || all("content-length").stream().anyMatch(n -> !n.equals("0"))) {
                throw new Refused(400, "a GET has no body");
            }
            target = first.group(2);
            modern = first.group(3).equals("1");
            isHead = method.equals("HEAD");
            String connection = "," + String.join(",", all("connection")).toLowerCase(Locale.ROOT).replaceAll("[ \t]", "") + ",";
            keepsOpen = modern ? !connection.contains(",close,") : connection.contains(",keep-alive,");
        }

        private List<String> all(String name) {
            return headers.getOrDefault(name, Collections.emptyList());
        }

        /** Null if it is not there. */
        private String first(String name) {
            return all(name).isEmpty() ? null : all(name).get(0);
        }

        /** Whether a page of another site asks. It could not read the answer, but an answer takes time and memory. */
        private boolean isOfAnotherSite(String host) {
            String site = first("sec-fetch-site");
            String origin = first("origin");
            return "cross-site".equals(site) || "same-site".equals(site) || origin != null && !origin.replaceFirst("^\\w+://", "").equalsIgnoreCase(host);
        }
    }

    private InspectRequest(String path, Map<String, String> query) {
        this.path = path;
        this.query = query;
    }

    /** @param token null if none is needed */
    static InspectRequest of(Head head, String token) throws Refused {
        if (!head.target.startsWith("/")) {
            throw new Refused(400, "`" + head.target + "` is no path");
        }
        int mark = head.target.indexOf('?');
        InspectRequest r = new InspectRequest(mark < 0 ? head.target : head.target.substring(0, mark), parse(mark < 0 ? "" : head.target.substring(mark + 1)));
        List<String> hosts = head.all("host");
        if (hosts.size() > 1 || hosts.isEmpty() && head.modern) {
            throw new Refused(400, "a request has one header `Host`");
        }
        String host = head.first("host");
        if (r.path.startsWith("/api/") && head.isOfAnotherSite(host)) {
            throw new Refused(403, "asked by a page of another site");
        }
        if (token != null) {
            if (!InspectPage.isAsset(r.path) && !hasToken(head.first("authorization"), r.query.get("token"), token)) {
                throw new Refused(401, "wrong or no token: add ?token=TOKEN to the address");
            }
            return r;
        }
        // A page of another site may have its own name lead to this address, and read what is answered to its name.
        if (host != null && !LOCAL.matcher(host).matches()) {
            throw new Refused(403, "`Host` must be an address, or localhost");
        }
        return r;
    }

    private static boolean hasToken(String header, String asked, String token) {
        String given = asked;
        if (header != null && header.regionMatches(true, 0, "Bearer ", 0, 7)) {
            given = header.substring(7).trim();
        }
        return given != null && MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8), token.getBytes(StandardCharsets.UTF_8));
    }

    private static Map<String, String> parse(String query) throws Refused {
        Map<String, String> all = new HashMap<>();
        for (String part : query.split("&")) {
            int is = part.indexOf('=');
            try {
                all.putIfAbsent(URLDecoder.decode(is < 0 ? part : part.substring(0, is), "UTF-8"), is < 0 ? "" : URLDecoder.decode(part.substring(is + 1), "UTF-8"));
            } catch (UnsupportedEncodingException | IllegalArgumentException e) {
                throw new Refused(400, "`" + part + "` cannot be read: " + e.getMessage());
            }
        }
        return all;
    }

    /** The value of a parameter; empty if it is not there. */
    String value(String name) {
        return query.getOrDefault(name, "");
    }

    /** The value of a parameter, which is one of these words, in large or small letters; empty if it is not there. */
    String choice(String name, Collection<String> words) throws Refused {
        String text = value(name);
        for (String word : words) {
            if (word.equalsIgnoreCase(text)) {
                return word;
            }
        }
        if (!text.isEmpty()) {
            throw new Refused(400, name + "=" + text + ": write one of " + String.join(", ", words));
        }
        return text;
    }

    /** Refuses parameters other than these and the token, so that a slip of the pen is not answered as if it were not there. */
    void takes(List<String> names) throws Refused {
        for (String name : query.keySet()) {
            if (!name.isEmpty() && !name.equals("token") && !names.contains(name)) {
                throw new Refused(400, "`" + name + "` is no parameter: " + path + " takes " + (names.isEmpty() ? "no parameters" : String.join(", ", names)));
            }
        }
    }

    /** The number that a parameter has. */
    int number(String name, int otherwise) throws Refused {
        String text = value(name);
        if (text.isEmpty()) {
            return otherwise;
        }
        try {
            return Integer.parseUnsignedInt(text) & Integer.MAX_VALUE;
        } catch (NumberFormatException e) {
            throw new Refused(400, name + "=" + text + ": write a number");
        }
    }
}
