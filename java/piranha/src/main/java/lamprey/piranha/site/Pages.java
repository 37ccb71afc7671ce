package lamprey.piranha.site;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/**
 * What the test site answers, which depends on the path and nothing else. Page {@code n} links to its children in a tree in which every page has the
 * same number of them; a rough site has pages that crawlers stumble over besides.
 */
final class Pages {
    /** Longer than any page: texts are parts of it. */
    private final byte[] filler;
    private final SiteOptions options;

    Pages(SiteOptions options) {
        this.options = options;
        byte[] words = "<p>The lamprey holds on to the stone and lets the river pass. ".getBytes(StandardCharsets.US_ASCII);
        filler = new byte[options.bytes];
        for (int i = 0; i < filler.length; i++) {
            filler[i] = words[i % words.length];
        }
    }

    /** One answer. */
    static final class Answer {
        /** Header and body; empty if the server falls silent. */
        final ByteBuffer[] parts;
        final int delayMillis;
        /** The connection ends with it. */
        final boolean close;
        /** Nothing is sent, and the connection stays open. */
        final boolean silent;

        Answer(int delayMillis, boolean close, boolean silent, ByteBuffer... parts) {
            this.parts = parts;
            this.delayMillis = delayMillis;
            this.close = close;
            this.silent = silent;
        }
    }

    Answer answer(String path, boolean close) {
        if (path.equals("/")) {
            return page(0, close, options.delayMillis);
        }
        if (path.equals("/robots.txt")) {
            return text(200, "text/plain", "User-agent: *\nDisallow: /private/\nAllow: /private/open/\n", close, 0);
        }
        String[] parts = path.split("/", 3);
        int n = parts.length == 3 ? number(parts[2]) : -1;
        if (n >= 0 && n < options.pages) {
            switch (parts[1]) {
                case "p":
                    return page(n, close, options.delayMillis);
                case "slow":
                    return page(n, close, options.delayMillis + 200);
                case "moved":
                    return reply("302 Found", "Location: /p/" + n + "\r\n", "text/html", new byte[0], 0, close, 0);
                case "loop":
                    return reply("301 Moved Permanently", "Location: /loop/" + n + "\r\n", "text/html", new byte[0], 0, close, 0);
                case "dead":
                    return new Answer(0, false, true);
                case "cut":
                    return new Answer(0, true, false, ascii("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n<html>"));
                case "error":
                    return text(500, "text/plain", "no\n", close, 0);
                case "image":
                    return reply("200 OK", "", "image/png", filler, Math.min(filler.length, 1000), close, 0);
                default:
                    break;
            }
        }
        return text(404, "text/html", "<a href=/p/0>nothing here</a>", close, 0);
    }

    private static int number(String text) {
        return text.matches("[0-9]{1,9}") ? Integer.parseInt(text) : -1;
    }

    private Answer page(int n, boolean close, int delay) {
        StringBuilder html = new StringBuilder("<!doctype html><html><head><title>Page " + n + "</title></head><body>\n");
        for (long child = (long) n * options.fanOut + 1; child <= (long) n * options.fanOut + options.fanOut && child < options.pages; child++) {
            html.append("<a href=\"/p/").append(child).append("\">page ").append(child).append("</a>\n");
        }
        if (options.rough) {
            rough(html, n);
        }
        byte[] head = html.toString().getBytes(StandardCharsets.US_ASCII);
        int rest = Math.max(0, options.bytes - head.length);
        return reply("200 OK", "", "text/html; charset=utf-8", head, rest, close, delay);
    }

    /** Other ways to write pages that exist; and what is forbidden, missing, broken. */
    private static void rough(StringBuilder html, int n) {
        html.append("<a href='#here'>here</a> <a href='../p/./").append(n).append("#x'>again</a> <a href='/%70/").append(n).append("'>and again</a>\n");
        html.append("<a href='/private/").append(n).append("'>forbidden</a> <a href='mailto:nobody@example.org'>write</a>\n");
        String[] others = {"moved", "missing", "error", "image", "loop", "slow", "cut"};
        html.append("<a href='/").append(others[n % others.length]).append('/').append(n).append("'>other</a>\n");
        if (n % 50 == 7) {
            html.append("<a href='/dead/").append(n).append("'>dead</a>\n");
        }
    }

    private Answer text(int status, String type, String body, boolean close, int delay) {
        String line = status == 200 ? "200 OK" : status == 404 ? "404 Not Found" : status + " Error";
        return reply(line, "", type, body.getBytes(StandardCharsets.US_ASCII), 0, close, delay);
    }

    /** The body is {@code start} and {@code more} bytes of filler. */
    private Answer reply(String status, String header, String type, byte[] start, int more, boolean close, int delay) {
        int filled = start == filler ? 0 : more;
        byte[] shown = start == filler ? Arrays.copyOf(filler, more) : start;
        String head = String.format(Locale.ROOT, "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: %s\r\n%s\r\n",
            status, type, shown.length + filled, close ? "close" : "keep-alive", header);
        return new Answer(delay, close, false, ascii(head), ByteBuffer.wrap(shown), ByteBuffer.wrap(filler, 0, filled));
    }

    private static ByteBuffer ascii(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
    }
}
