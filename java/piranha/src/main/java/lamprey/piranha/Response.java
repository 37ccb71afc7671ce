package lamprey.piranha;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.SocketTimeoutException;
import java.net.URL;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** What a server answered to one GET. */
final class Response {
    private static final int CHUNK = 8192;

    final int status;
    /** Of a redirect: where to, normalised; else null. */
    final URL location;
    /** With parameters, as the server wrote it; null if it did not. */
    final String contentType;
    final byte[] body;

    Response(int status, URL location, String contentType, byte[] body) {
        this.status = status;
        this.location = location;
        this.contentType = contentType;
        this.body = body;
    }

    /**
     * Asks for a page. Blocks the calling thread until all of it has arrived.
     *
     * @param limit what is beyond this number of bytes is not read
     * @throws IOException if the server cannot be reached, does not speak HTTP, or takes longer than the options allow
     */
    static Response read(URL url, Options options, int limit) throws IOException {
        HttpURLConnection c = (HttpURLConnection) url.openConnection();
        c.setInstanceFollowRedirects(false);
        c.setUseCaches(false);
        c.setConnectTimeout(options.timeoutMillis);
        c.setReadTimeout(options.timeoutMillis);
        c.setRequestProperty("User-Agent", options.agent);
        int status = c.getResponseCode();
        if (status < 0) {
            throw new IOException("no HTTP status line from " + url);
        }
        URL location = null;
        if (status >= 300 && status < 400 && c.getHeaderField("Location") != null) {
            location = Urls.link(url, c.getHeaderField("Location"));
        }
        InputStream in = status >= 400 ? c.getErrorStream() : c.getInputStream();
        byte[] body = new byte[0];
        if (in != null) {
            try {
                body = body(in, limit, options.timeoutMillis, url);
            } finally {
                in.close();
            }
        }
        return new Response(status, location, c.getContentType(), body);
    }

    /** The timeout of the socket counts from one read to the next; this one is for the whole. */
    private static byte[] body(InputStream in, int limit, int timeoutMillis, URL url) throws IOException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
        ByteArrayOutputStream body = new ByteArrayOutputStream(CHUNK);
        byte[] chunk = new byte[CHUNK];
        while (body.size() < limit) {
            int n = in.read(chunk, 0, Math.min(chunk.length, limit - body.size()));
            if (n < 0) {
                break;
            }
            body.write(chunk, 0, n);
            if (System.nanoTime() - end > 0) {
                throw new SocketTimeoutException(url + " did not arrive within " + timeoutMillis + " ms");
            }
        }
        return body.toByteArray();
    }

    /** Whether links are to be looked for in the body. */
    boolean isHtml() {
        if (contentType == null) {
            return false;
        }
        String type = contentType.toLowerCase(Locale.ROOT);
        return type.startsWith("text/html") || type.startsWith("application/xhtml+xml");
    }
}
