package lamprey;

import java.nio.charset.StandardCharsets;

/** What an {@link InspectServer} answers, and how it goes over the wire. */
final class InspectAnswer {
    static final String TEXT = "text/plain; charset=utf-8";
    private static final String JSON = "application/json";
    /** The page may load and ask nothing but what is served here, and no other page may show it. */
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none';"
        + " frame-ancestors 'none'";

    final int status;
    private final String kind;
    private final byte[] body;

    InspectAnswer(int status, String kind, byte[] body) {
        this.status = status;
        this.kind = kind;
        this.body = body;
    }

    static InspectAnswer of(Json json) {
        return new InspectAnswer(200, JSON, json.toString().getBytes(StandardCharsets.UTF_8));
    }

    static InspectAnswer text(int status, String text) {
        return new InspectAnswer(status, TEXT, text.getBytes(StandardCharsets.UTF_8));
    }

    static InspectAnswer error(int status, String text) {
        return new InspectAnswer(status, JSON, new Json().begin('{').member("error", text).end('}').toString().getBytes(StandardCharsets.UTF_8));
    }

    /** Head and body; no body if {@code bodyless}. By {@code Lamprey-Endpoint} the command {@code lamprey} knows that it has not asked another service. */
    byte[] bytes(boolean bodyless, boolean keepsOpen) {
        String head = "HTTP/1.1 " + status + " " + reason() + "\r\nContent-Type: " + kind + "\r\nContent-Length: " + body.length + "\r\nConnection: " + (keepsOpen ? "keep-alive" : "close")
            + "\r\n" + (status == 401 ? "WWW-Authenticate: Bearer\r\n" : status == 405 ? "Allow: GET, HEAD\r\n" : "") + "Lamprey-Endpoint: 1\r\nCache-Control: no-store\r\nContent-Security-Policy: " + POLICY
            + "\r\nCross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n\r\n";
        byte[] first = head.getBytes(StandardCharsets.ISO_8859_1);
        byte[] all = java.util.Arrays.copyOf(first, first.length + (bodyless ? 0 : body.length));
        System.arraycopy(body, 0, all, first.length, all.length - first.length);
        return all;
    }

    private String reason() {
        switch (status) {
            case 200: return "OK";
            case 400: return "Bad Request";
            case 401: return "Unauthorized";
            case 403: return "Forbidden";
            case 404: return "Not Found";
            case 405: return "Method Not Allowed";
            case 408: return "Request Timeout";
            case 431: return "Request Header Fields Too Large";
            default: return "Error";
        }
    }
}
