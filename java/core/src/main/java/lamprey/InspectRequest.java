package lamprey;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import java.io.UnsupportedEncodingException;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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

    private InspectRequest(String path, Map<String, String> query) {
        this.path = path;
        this.query = query;
    }

    /** @param token null if none is needed */
    static InspectRequest of(HttpExchange e, String token) throws Refused {
        String method = e.getRequestMethod();
        if (!method.equals("GET") && !method.equals("HEAD")) {
            throw new Refused(405, "`" + method + "`: only GET is answered");
        }
        URI uri = e.getRequestURI();
        if (uri.isAbsolute() || uri.getRawPath() == null || !uri.getRawPath().startsWith("/")) {
            throw new Refused(400, "`" + uri + "` is no path");
        }
        InspectRequest r = new InspectRequest(uri.getRawPath(), parse(uri.getRawQuery()));
        Headers headers = e.getRequestHeaders();
        if (token != null) {
            if (!InspectPage.isAsset(r.path) && !hasToken(headers, r.query.get("token"), token)) {
                throw new Refused(401, "wrong or no token: add ?token=TOKEN to the address");
            }
            return r;
        }
        // A page of another site may have its own name lead to this address, and read what is answered to its name.
        List<String> hosts = headers.get("Host");
        if (hosts != null && (hosts.size() != 1 || !LOCAL.matcher(hosts.get(0)).matches())) {
            throw new Refused(403, "`Host` must be an address, or localhost");
        }
        return r;
    }

    private static boolean hasToken(Headers headers, String asked, String token) {
        String given = asked;
        String header = headers.getFirst("Authorization");
        if (header != null && header.regionMatches(true, 0, "Bearer ", 0, 7)) {
            given = header.substring(7).trim();
        }
        return given != null && MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8), token.getBytes(StandardCharsets.UTF_8));
    }

    private static Map<String, String> parse(String query) throws Refused {
        Map<String, String> all = new HashMap<>();
        if (query != null) {
            for (String part : query.split("&")) {
                int is = part.indexOf('=');
                try {
                    all.putIfAbsent(URLDecoder.decode(is < 0 ? part : part.substring(0, is), "UTF-8"), is < 0 ? "" : URLDecoder.decode(part.substring(is + 1), "UTF-8"));
                } catch (UnsupportedEncodingException | IllegalArgumentException e) {
                    throw new Refused(400, "`" + part + "` cannot be read: " + e.getMessage());
                }
            }
        }
        return all;
    }

    /** The value of a parameter; empty if it is not there. */
    String value(String name) {
        return query.getOrDefault(name, "");
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
