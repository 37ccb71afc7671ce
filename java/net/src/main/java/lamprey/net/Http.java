package lamprey.net;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.URL;
import java.net.URLConnection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import lamprey.Blocking;

/**
 * What rewritten programs call instead of the methods of {@link URL} and {@link URLConnection} that block: for {@code http} a {@link HttpConnection}; anything else,
 * such as {@code https}, is left to the JDK, in a kernel thread of a pool while the light thread waits.
 */
public final class Http {
    /** What the JDK's handler of http makes. A handler of the program's own makes something else, which is kept. */
    private static final String JDK = "sun.net.www.protocol.http.HttpURLConnection";

    private Http() {}

    /** For {@link URL#openConnection()}. */
    public static URLConnection openConnection(URL url) throws IOException {
        URLConnection jdk = url.openConnection();
        return jdk.getClass().getName().equals(JDK) ? new HttpConnection(url) : jdk;
    }

    /** For {@link URL#openConnection(Proxy)}. A connection through a proxy is the JDK's. */
    public static URLConnection openConnection(URL url, Proxy proxy) throws IOException {
        return proxy == Proxy.NO_PROXY ? openConnection(url) : url.openConnection(proxy);
    }

    /** For {@link URL#openStream()}. Blocks. */
    public static InputStream openStream(URL url) throws IOException {
        return getInputStream(openConnection(url));
    }

    private static boolean isOurs(URLConnection c) {
        return c instanceof HttpConnection;
    }

    static <T> T inPool(Callable<T> call) throws IOException {
        try {
            return Blocking.call(call);
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    private static <T> T inPoolQuietly(Callable<T> call) {
        try {
            return Blocking.call(call);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            return null;
        }
    }

    /** For {@link URLConnection#connect()}. */
    public static void connect(URLConnection c) throws IOException {
        if (isOurs(c)) {
            c.connect();
        } else {
            inPool(() -> {
                c.connect();
                return null;
            });
        }
    }

    /** For {@link URLConnection#getInputStream()}. */
    public static InputStream getInputStream(URLConnection c) throws IOException {
        return isOurs(c) ? c.getInputStream() : new PooledInput(inPool(c::getInputStream));
    }

    /** For {@link URLConnection#getOutputStream()}. */
    public static OutputStream getOutputStream(URLConnection c) throws IOException {
        return isOurs(c) ? c.getOutputStream() : new PooledOutput(inPool(c::getOutputStream));
    }

    /** For {@link URL#getContent()}. Blocks. */
    public static Object getContent(URL url) throws IOException {
        return getContent(openConnection(url));
    }

    /** For {@link URL#getContent(Class[])}. Blocks. */
    public static Object getContent(URL url, Class<?>[] classes) throws IOException {
        return getContent(openConnection(url), classes);
    }

    /** For {@link URLConnection#getContent()}. The handler of the content is the JDK's, and runs in the pool. */
    public static Object getContent(URLConnection c) throws IOException {
        return content(inPool(c::getContent));
    }

    /** For {@link URLConnection#getContent(Class[])}. The handler of the content is the JDK's, and runs in the pool. */
    public static Object getContent(URLConnection c, Class<?>[] classes) throws IOException {
        return content(inPool(() -> c.getContent(classes)));
    }

    private static Object content(Object content) {
        return content instanceof InputStream && !(content instanceof lamprey.io.InputStream) ? new PooledInput((InputStream) content) : content;
    }

    /** For {@link URLConnection#getHeaderField(String)}. */
    public static String getHeaderField(URLConnection c, String name) {
        return isOurs(c) ? c.getHeaderField(name) : inPoolQuietly(() -> c.getHeaderField(name));
    }

    /** For {@link URLConnection#getHeaderFields()}. */
    public static Map<String, List<String>> getHeaderFields(URLConnection c) {
        return isOurs(c) ? c.getHeaderFields() : inPoolQuietly(c::getHeaderFields);
    }

    /** For {@link URLConnection#getContentType()}. */
    public static String getContentType(URLConnection c) {
        return isOurs(c) ? c.getContentType() : inPoolQuietly(c::getContentType);
    }

    /** For {@link HttpURLConnection#getResponseCode()}. */
    public static int getResponseCode(HttpURLConnection c) throws IOException {
        return isOurs(c) ? c.getResponseCode() : inPool(c::getResponseCode);
    }

    /** For {@link HttpURLConnection#getResponseMessage()}. */
    public static String getResponseMessage(HttpURLConnection c) throws IOException {
        return isOurs(c) ? c.getResponseMessage() : inPool(c::getResponseMessage);
    }
}
