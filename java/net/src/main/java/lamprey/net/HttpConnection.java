package lamprey.net;

import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpRetryException;
import java.net.HttpURLConnection;
import java.net.MalformedURLException;
import java.net.ProtocolException;
import java.net.URL;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * {@link HttpURLConnection} for {@code http} over {@link Socket}s: its methods block only the calling thread, light or not. Follows redirects within
 * http, understands chunked bodies, keeps connections alive. It knows no proxies, cookies, caches or authentication.
 *
 * <p>The request is sent by the first method that needs the response, or, in a streaming mode, by {@link #getOutputStream}.
 */
public class HttpConnection extends HttpURLConnection {
    private static final int MOST_REDIRECTS = 20;
    private static final Charset CHARSET = charset();
    private static final DateTimeFormatter MODIFIED = DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US).withZone(ZoneOffset.UTC);
    private static final String AGENT = "Java/" + System.getProperty("java.version");

    private static final String ACCEPT = "text/html, image/gif, image/jpeg, */*; q=0.2";

    private final HttpFields fields = new HttpFields();
    /** Null while a response has it: then it is closed, or given back, by {@link #body} only. */
    private HttpWire wire;
    private ByteArrayOutputStream buffered;
    private HttpRequestBody streamed;
    private HttpHead head;
    private InputStream body;
    private IOException failure;
    /** Why there is a response, but no body, such as a redirect that was not followed; thrown to whoever wants the body. */
    private IOException bodyFailure;
    private int redirects;

    /** To {@code url}, whose protocol is http. */
    protected HttpConnection(URL url) {
        super(url);
        if (!url.getProtocol().equalsIgnoreCase("http")) {
            throw new IllegalArgumentException("not http: " + url);
        }
    }

    private String host() throws IOException {
        String host = url.getHost();
        if (host == null || host.isEmpty()) {
            throw new IOException("no host in " + url);
        }
        return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    }

    private int port() {
        return url.getPort() < 0 ? 80 : url.getPort();
    }

    /** Connects to the server. Blocks. */
    @Override
    public void connect() throws IOException {
        if (!connected) {
            HttpFields.check(url);
            open(true);
            connected = true;
        }
    }

    private void open(boolean mayReuse) throws IOException {
        wire = mayReuse ? HttpWire.idle(host(), port()) : null;
        if (wire == null) {
            wire = HttpWire.connect(host(), port(), getConnectTimeout());
        }
        wire.readTimeout(getReadTimeout());
    }

    private boolean streams() {
        return fixedContentLength >= 0 || fixedContentLengthLong >= 0 || chunkLength > 0;
    }

    private long fixedLength() {
        return fixedContentLengthLong >= 0 ? fixedContentLengthLong : fixedContentLength;
    }

    /** Where the body of the request is written. In a streaming mode, blocks. */
    @Override
    public OutputStream getOutputStream() throws IOException {
        if (!doOutput) {
            throw new ProtocolException("cannot write to a URLConnection if doOutput=false - call setDoOutput(true)");
        }
        if (method.equals("GET")) {
            method = "POST";
        }
        if (head != null) {
            throw new ProtocolException("Cannot write output after reading input.");
        }
        if (streams()) {
            if (streamed == null) {
                connect();
                sendHead(-1);
                streamed = new HttpRequestBody(wire, fixedLength(), Math.max(chunkLength, 0));
            }
            return streamed;
        }
        if (buffered == null) {
            connect();
            buffered = new ByteArrayOutputStream();
        }
        return buffered;
    }

    /** @param length of a buffered body; -1 for none */
    private void sendHead(int length) throws IOException {
        String file = url.getFile().isEmpty() ? "/" : url.getFile().startsWith("?") ? "/" + url.getFile() : url.getFile();
        StringBuilder h = new StringBuilder(256).append(method).append(' ').append(file).append(" HTTP/1.1\r\n");
        HttpFields all = fields.copy();
        if (!getUseCaches()) {
            all.putIfAbsent("Cache-Control", "no-cache");
            all.putIfAbsent("Pragma", "no-cache");
        }
        all.putIfAbsent("User-Agent", AGENT);
        all.putIfAbsent("Host", url.getHost().replaceAll("%[^\\]]*", "") + (url.getPort() < 0 || url.getPort() == 80 ? "" : ":" + url.getPort()));
        all.putIfAbsent("Accept", ACCEPT);
        all.putIfAbsent("Connection", "keep-alive");
        if (streams() || length >= 0) {
            if (!method.equals("PUT")) {
                all.putIfAbsent("Content-Type", "application/x-www-form-urlencoded");
            }
            boolean chunks = streams() && chunkLength > 0;
            all.remove(chunks ? "Content-Length" : "Transfer-Encoding");
            all.put(chunks ? "Transfer-Encoding" : "Content-Length", chunks ? "chunked" : String.valueOf(streams() ? fixedLength() : length));
        }
        if (ifModifiedSince != 0) {
            all.putIfAbsent("If-Modified-Since", MODIFIED.format(java.time.Instant.ofEpochMilli(ifModifiedSince)));
        }
        all.appendTo(h);
        byte[] bytes = h.append("\r\n").toString().getBytes(CHARSET);
        if (length > 0) {
            byte[] content = buffered.toByteArray();
            byte[] both = java.util.Arrays.copyOf(bytes, bytes.length + content.length);
            System.arraycopy(content, 0, both, bytes.length, content.length);
            bytes = both;
        }
        wire.out.write(bytes, 0, bytes.length);
    }

    /** Those of the platform, as in the JDK, unless ASCII is not the same there. */
    private static Charset charset() {
        Charset c = Charset.defaultCharset();
        return Arrays.equals("GET /: ".getBytes(c), "GET /: ".getBytes(StandardCharsets.US_ASCII)) ? c : StandardCharsets.ISO_8859_1;
    }

    @Override
    public void setRequestProperty(String name, String value) {
        mayChange(name);
        fields.set(name, value);
    }

    @Override
    public void addRequestProperty(String name, String value) {
        mayChange(name);
        fields.add(name, value);
    }

    private void mayChange(String name) {
        if (connected) {
            throw new IllegalStateException("Already connected");
        }
        if (name == null) {
            throw new NullPointerException("key is null");
        }
    }

    @Override
    public String getRequestProperty(String name) {
        return fields.told(name);
    }

    @Override
    public Map<String, List<String>> getRequestProperties() {
        if (connected) {
            throw new IllegalStateException("Already connected");
        }
        return fields.told();
    }

    /** Sends the request, if it has not been sent, and reads the head of the response. Blocks. */
    private void respond() throws IOException {
        if (failure != null) {
            throw failure;
        }
        if (head != null) {
            return;
        }
        boolean done = false;
        try {
            connect();
            do {
                exchange();
            } while (redirected());
            done = true;
        } catch (IOException e) {
            failure = e;
            throw e;
        } finally {
            if (!done) {
                disconnect();
            }
        }
    }

    private void exchange() throws IOException {
        if (streamed != null) {
            streamed.close();
            head = finalHead();
        } else {
            int length = buffered == null ? -1 : buffered.size();
            boolean again = false;
            try {
                sendHead(length);
                head = finalHead();
                again = head == null && wire.used;
            } catch (java.net.SocketException e) {
                if (!wire.used) {
                    throw e;
                }
                again = true;
            }
            if (again) {
                // The server had closed the idle connection.
                wire.close();
                open(false);
                sendHead(length);
                head = finalHead();
            }
        }
        if (head == null) {
            throw new java.net.SocketException("Unexpected end of file from server");
        }
        responseCode = head.code;
        responseMessage = head.reason;
        if (head.code < 0) {
            wire.close();
            bodyFailure = new IOException("Invalid Http response: \"" + head.status(80) + "\"");
            return;
        }
        HttpWire given = wire;
        wire = null;
        body = HttpBody.of(given, head, method, !"close".equalsIgnoreCase(fields.get("Connection")));
    }

    /** Passes over those that say that another follows. */
    private HttpHead finalHead() throws IOException {
        HttpHead h;
        do {
            h = HttpHead.read(wire.in);
        } while (h != null && h.code >= 100 && h.code < 200 && h.code != 101);
        return h;
    }

    /** Whether the response leads elsewhere; then the next request is ready to be sent. */
    private boolean redirected() throws IOException {
        int code = head.code;
        String to = head.get("Location");
        if (!instanceFollowRedirects || to == null || code < 300 || code > 308 || code == 304 || code == 306) {
            return false;
        }
        URL target;
        try {
            target = new URL(url, to);
            HttpFields.check(target);
        } catch (MalformedURLException e) {
            bodyFailure = e;
            return false;
        }
        if (!target.getProtocol().equalsIgnoreCase("http")) {
            return false;
        }
        if (streamed != null) {
            bodyFailure = new HttpRetryException("cannot retry due to redirection, in streaming mode", code, to);
            return false;
        }
        if (++redirects >= MOST_REDIRECTS) {
            throw new ProtocolException("Server redirected too many  times (" + MOST_REDIRECTS + ")");
        }
        body.close();
        body = null;
        if (method.equals("POST") && code != 307 && code != 308) {
            method = "GET";
            buffered = null;
            // As in the JDK: they belonged to what was posted.
            fields.clear();
        }
        url = target;
        open(true);
        return true;
    }

    /** The body of the response. Blocks until its head is there. @throws FileNotFoundException for the codes 404 and 410 */
    @Override
    public InputStream getInputStream() throws IOException {
        if (!doInput) {
            throw new ProtocolException("Cannot read from URLConnection if doInput=false (call setDoInput(true))");
        }
        respond();
        if (bodyFailure != null) {
            throw bodyFailure;
        }
        if (head.code == 404 || head.code == 410) {
            throw new FileNotFoundException(url.toString());
        }
        if (head.code >= 400) {
            throw new IOException("Server returned HTTP response code: " + head.code + " for URL: " + url);
        }
        return body;
    }

    @Override
    public InputStream getErrorStream() {
        return head != null && head.code >= 400 && !method.equals("HEAD") ? body : null;
    }

    /** Blocks until the head of the response is there. */
    @Override
    public int getResponseCode() throws IOException {
        respond();
        return head.code;
    }

    /** Blocks until the head of the response is there. */
    @Override
    public String getResponseMessage() throws IOException {
        respond();
        return head.reason;
    }

    /** The head of the response; null if there is none. Blocks. */
    private HttpHead headOrNull() {
        try {
            respond();
            return head;
        } catch (IOException e) {
            return null;
        }
    }

    @Override
    public String getHeaderField(String name) {
        HttpHead h = headOrNull();
        return h == null ? null : h.get(name);
    }

    @Override
    public String getHeaderField(int n) {
        HttpHead h = headOrNull();
        return h == null ? null : h.valueAt(n);
    }

    @Override
    public String getHeaderFieldKey(int n) {
        HttpHead h = headOrNull();
        return h == null ? null : h.nameAt(n);
    }

    @Override
    public Map<String, List<String>> getHeaderFields() {
        HttpHead h = headOrNull();
        return h == null ? Collections.<String, List<String>>emptyMap() : h.all();
    }

    @Override
    public int getHeaderFieldInt(String name, int otherwise) {
        long n = getHeaderFieldLong(name, otherwise);
        return (int) n == n ? (int) n : otherwise;
    }

    @Override
    public long getHeaderFieldLong(String name, long otherwise) {
        String value = getHeaderField(name);
        try {
            return value == null ? otherwise : Long.parseLong(value.trim());
        } catch (NumberFormatException e) {
            return otherwise;
        }
    }

    @Override
    public long getHeaderFieldDate(String name, long otherwise) {
        String value = getHeaderField(name);
        try {
            return value == null ? otherwise
                : java.time.ZonedDateTime.parse(value.trim(), java.time.format.DateTimeFormatter.RFC_1123_DATE_TIME).toInstant().toEpochMilli();
        } catch (java.time.format.DateTimeParseException e) {
            return otherwise;
        }
    }

    @Override
    public int getContentLength() {
        return getHeaderFieldInt("Content-Length", -1);
    }

    @Override
    public long getContentLengthLong() {
        return getHeaderFieldLong("Content-Length", -1);
    }

    @Override
    public String getContentType() {
        return getHeaderField("Content-Type");
    }

    @Override
    public String getContentEncoding() {
        return getHeaderField("Content-Encoding");
    }

    @Override
    public long getExpiration() {
        return getHeaderFieldDate("Expires", 0);
    }

    @Override
    public long getDate() {
        return getHeaderFieldDate("Date", 0);
    }

    @Override
    public long getLastModified() {
        return getHeaderFieldDate("Last-Modified", 0);
    }

    /** Closes the connection. */
    @Override
    public void disconnect() {
        try {
            if (body != null) {
                body.close();
            } else if (wire != null) {
                wire.close();
            }
        } catch (IOException e) {
            // It is closed all the same.
        }
    }

    @Override
    public boolean usingProxy() {
        return false;
    }
}
