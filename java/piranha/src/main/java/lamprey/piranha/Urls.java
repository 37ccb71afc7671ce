package lamprey.piranha;

import java.net.MalformedURLException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * One form for all the ways to write the same address (RFC 3986, section 6): lower case in scheme and host, no default port, no dot segments, no
 * fragment, no percent sign before what needs none, upper case after the others.
 */
final class Urls {
    private static final String UNRESERVED = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    private static final String ALLOWED = UNRESERVED + ":/?#[]@!$&'()*+,;=%";

    private static final int MOST_PORT = 65_535;
    private static final Pattern PORT = Pattern.compile("^https?://[^/?#]*[^:/?#]:\\d+([/?#]|$)", Pattern.CASE_INSENSITIVE);

    private Urls() {}

    /** A start page. */
    static URL start(String text) {
        URL url = normal(text);
        if (url == null && PORT.matcher(text).find()) {
            throw new IllegalArgumentException("the port is not one from 1 to " + MOST_PORT + ": " + text);
        }
        if (url == null) {
            throw new IllegalArgumentException("not an http or https address: " + text + "; write for example http://example.org/");
        }
        return url;
    }

    /** A link on a page; null if it leads to nothing that can be crawled. */
    static URL link(URL page, String reference) {
        String text = escape(reference.trim());
        try {
            // java.net.URI goes by the older RFC 2396, in which these two lead to the folder of the page.
            if (text.isEmpty()) {
                return normal(page.toString());
            }
            if (text.startsWith("?")) {
                return normal(page.getProtocol() + "://" + page.getAuthority() + page.getPath() + text);
            }
            return normal(new URI(page.toString()).resolve(text).toString());
        } catch (URISyntaxException | IllegalArgumentException e) {
            return null;
        }
    }

    /** The robots.txt that governs an address. */
    static URL robotsTxt(URL url) {
        try {
            return new URI(url.getProtocol() + "://" + url.getAuthority() + "/robots.txt").toURL();
        } catch (URISyntaxException | MalformedURLException e) {
            throw new IllegalArgumentException("not a normalised address: " + url, e);
        }
    }

    /** Null if the address is not one of http or https, or its port is none. */
    static URL normal(String text) {
        try {
            URI uri = new URI(escape(text.trim()));
            String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
            if (!scheme.equals("http") && !scheme.equals("https") || uri.getHost() == null) {
                return null;
            }
            if (uri.getPort() == 0 || uri.getPort() > MOST_PORT) {
                return null;
            }
            int port = uri.getPort() == (scheme.equals("http") ? 80 : 443) ? -1 : uri.getPort();
            String authority = uri.getHost().toLowerCase(Locale.ROOT) + (port < 0 ? "" : ":" + port);
            String path = withoutDots(percent(uri.getRawPath()));
            String query = uri.getRawQuery() == null ? "" : "?" + percent(uri.getRawQuery());
            return new URI(scheme + "://" + authority + path + query).toURL();
        } catch (URISyntaxException | MalformedURLException | IllegalArgumentException e) {
            return null;
        }
    }

    /** RFC 3986, 5.2.4. A path that leaves the root stays there. */
    private static String withoutDots(String path) {
        StringBuilder out = new StringBuilder();
        String rest = path.startsWith("/") ? path : "/" + path;
        while (!rest.isEmpty()) {
            int slash = rest.indexOf('/', 1);
            String segment = slash < 0 ? rest : rest.substring(0, slash);
            rest = slash < 0 ? "" : rest.substring(slash);
            if (segment.equals("/..")) {
                out.setLength(Math.max(0, out.lastIndexOf("/")));
            }
            if (!segment.equals("/..") && !segment.equals("/.")) {
                out.append(segment);
            } else if (rest.isEmpty()) {
                out.append('/');
            }
        }
        return out.toString();
    }

    /** Decodes what is unreserved, and writes the others with capital digits. */
    static String percent(String text) {
        StringBuilder out = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            int value = c == '%' ? hex(text, i + 1) : -1;
            if (value >= 0 && UNRESERVED.indexOf(value) >= 0) {
                out.append((char) value);
                i += 2;
            } else if (value >= 0) {
                out.append(text.substring(i, i + 3).toUpperCase(Locale.ROOT));
                i += 2;
            } else {
                out.append(c == '%' ? "%25" : String.valueOf(c));
            }
        }
        return out.toString();
    }

    private static int hex(String text, int at) {
        if (at + 2 > text.length() || Character.digit(text.charAt(at), 16) < 0 || Character.digit(text.charAt(at + 1), 16) < 0) {
            return -1;
        }
        return Integer.parseInt(text.substring(at, at + 2), 16);
    }

    /** Percent-encodes what may not stand in an address, as browsers do. */
    static String escape(String text) {
        StringBuilder out = new StringBuilder(text.length());
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < bytes.length; i++) {
            int b = bytes[i] & 0xff;
            boolean sign = b == '%' && hexAt(bytes, i + 1) && hexAt(bytes, i + 2);
            if (b < 0x80 && ALLOWED.indexOf(b) >= 0 && (b != '%' || sign)) {
                out.append((char) b);
            } else {
                out.append('%').append(Character.toUpperCase(Character.forDigit(b >> 4, 16)))
                    .append(Character.toUpperCase(Character.forDigit(b & 15, 16)));
            }
        }
        return out.toString();
    }

    private static boolean hexAt(byte[] bytes, int i) {
        return i < bytes.length && Character.digit(bytes[i], 16) >= 0;
    }
}
