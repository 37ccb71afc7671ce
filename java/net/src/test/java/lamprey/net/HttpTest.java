package lamprey.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import lamprey.io.Since9;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** HTTP connections do what the JDK's do, against the same server. */
@Timeout(240)
class HttpTest {
    private static HttpServer server;
    private static java.util.concurrent.ExecutorService pool;
    private static final Set<Integer> PORTS = ConcurrentHashMap.newKeySet();

    @BeforeAll
    static void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
        pool = Executors.newCachedThreadPool();
        server.setExecutor(pool);
        server.createContext("/", HttpTest::serve);
        server.start();
    }

    @AfterAll
    static void stop() {
        server.stop(0);
        pool.shutdown();
    }

    private static byte[] large() {
        byte[] b = new byte[300_000];
        new Random(5).nextBytes(b);
        return b;
    }

    private static void serve(HttpExchange x) throws IOException {
        PORTS.add(x.getRemoteAddress().getPort());
        String path = x.getRequestURI().getPath();
        byte[] sent = Since9.readAllBytes(x.getRequestBody());
        byte[] answer = (x.getRequestMethod() + " " + x.getRequestURI() + " " + new String(sent, StandardCharsets.ISO_8859_1) + " "
            + x.getRequestHeaders().getFirst("X-Own") + " " + x.getRequestHeaders().getFirst("Content-type")).getBytes(StandardCharsets.ISO_8859_1);
        x.getResponseHeaders().set("X-Twice", "one");
        x.getResponseHeaders().add("X-Twice", "two");
        x.getResponseHeaders().set("Content-Type", "text/plain");
        int code = path.startsWith("/code/") ? Integer.parseInt(path.substring(6)) : 200;
        if (path.startsWith("/to/")) {
            String[] parts = path.split("/", 4);
            code = Integer.parseInt(parts[2]);
            x.getResponseHeaders().set("Location", parts[3].equals("loop") ? path : "/" + parts[3]);
        }
        if (path.equals("/large") || path.equals("/chunked")) {
            answer = large();
        }
        boolean none = x.getRequestMethod().equals("HEAD") || code == 204 || code == 304;
        x.sendResponseHeaders(code, none ? -1 : path.equals("/chunked") ? 0 : answer.length);
        if (!none) {
            try (OutputStream out = x.getResponseBody()) {
                out.write(answer);
            }
        }
        x.close();
    }

    private interface Opener {
        HttpURLConnection open(URL url) throws IOException;
    }

    private static URL url(String path) throws IOException {
        return new URL("http://127.0.0.1:" + server.getAddress().getPort() + path);
    }

    private static int hash(InputStream in) throws IOException {
        int h = 1;
        byte[] b = new byte[1000];
        int n;
        while ((n = in.read(b)) >= 0) {
            for (int i = 0; i < n; i++) {
                h = 31 * h + b[i];
            }
        }
        in.close();
        return h;
    }

    private static String talk(Opener opener, String method, String path, int mode) throws IOException {
        HttpURLConnection c = opener.open(url(path));
        c.setRequestMethod(method);
        c.setRequestProperty("X-Own", "mine");
        StringBuilder trace = new StringBuilder(method + path + mode + ": ");
        try {
            if (mode > 0) {
                c.setDoOutput(true);
                byte[] body = "some body".getBytes(StandardCharsets.ISO_8859_1);
                if (mode == 2) {
                    c.setChunkedStreamingMode(4);
                } else if (mode == 3) {
                    c.setFixedLengthStreamingMode(body.length);
                }
                OutputStream out = c.getOutputStream();
                out.write(body);
                out.close();
            }
            trace.append(c.getResponseCode()).append(' ').append(c.getResponseMessage()).append(' ').append(c.getContentType()).append(' ')
                .append(c.getHeaderField("x-twice")).append(' ').append(new java.util.TreeSet<>(c.getHeaderFields().get("X-twice"))).append(' ').append(c.getHeaderField(0)).append(' ')
                .append(c.getContentLengthLong()).append(' ').append(c.getURL().getPath()).append(' ').append(c.getHeaderField("Date") != null).append(' ')
                .append(c.getDate() > 0).append(' ').append(c.getHeaderFieldInt("Content-length", -5)).append(' ');
            trace.append(hash(c.getInputStream()));
        } catch (IOException e) {
            trace.append(e.getClass().getName()).append(": ").append(String.valueOf(e.getMessage()).replace("  ", " "));
            InputStream error = c.getErrorStream();
            trace.append(' ').append(error == null ? "none" : "" + hash(error));
        }
        return trace.toString();
    }

    @ParameterizedTest
    @EnumSource
    void requests_and_responses_are_the_same_as_with_the_jdk(Where where) throws Exception {
        where.run(() -> {
            String[] paths = {"/a?b=c", "/large", "/chunked", "/code/204", "/code/404", "/code/410", "/code/500", "/code/304", "/to/302/x", "/to/301/large",
                "/to/303/to/302/y", "/to/307/z"};
            for (String path : paths) {
                for (String method : new String[] {"GET", "HEAD"}) {
                    assertEquals(talk(u -> (HttpURLConnection) u.openConnection(), method, path, 0), talk(HttpConnection::new, method, path, 0));
                }
                for (int mode = 1; mode <= 3; mode++) {
                    if (!path.startsWith("/to/307")) {
                        String jdk = talk(u -> (HttpURLConnection) u.openConnection(), "POST", path, mode);
                        assertEquals(jdk, talk(HttpConnection::new, "POST", path, mode));
                    }
                }
            }
            assertEquals(talk(u -> (HttpURLConnection) u.openConnection(), "GET", "/to/302/loop", 0), talk(HttpConnection::new, "GET", "/to/302/loop", 0));
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_connection_is_used_again(Where where) throws Exception {
        where.run(() -> {
            hash(new HttpConnection(url("/warm")).getInputStream());
            PORTS.clear();
            for (int i = 0; i < 20; i++) {
                hash(new HttpConnection(url("/again")).getInputStream());
            }
            assertEquals(1, PORTS.size());
        });
    }

    /** Answers each connection with these bytes. */
    private static Where.Forked answer(Where where, ServerSocket server, String response, int times) {
        return where.fork(() -> {
            for (int i = 0; i < times; i++) {
                java.net.Socket s = server.accept();
                InputStream in = s.getInputStream();
                int matched = 0;
                while (matched < 4) {
                    matched = in.read() == "\r\n\r\n".charAt(matched) ? matched + 1 : 0;
                }
                s.getOutputStream().write(response.getBytes(StandardCharsets.ISO_8859_1));
                s.close();
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void what_servers_do_wrong_is_said(Where where) throws Exception {
        String[][] cases = {
            {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "Premature EOF: 7 bytes of the body are missing"},
            {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "Premature EOF: 3 bytes of the body are missing"},
            {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "Premature EOF: in a chunked body, the size of a chunk is \"xyz\""},
            {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n", "Premature EOF: in a chunked body, the size of a chunk is \"-5\""},
            {"SSH-2.0 hello\r\n", "Invalid Http response: \"SSH-2.0 hello\""},
            {"", "Unexpected end of file from server"},
        };
        where.run(() -> {
            for (String[] c : cases) {
                try (ServerSocket s = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
                    Where.Forked f = answer(where, s, c[0], 1);
                    IOException e = null;
                    try {
                        hash(new HttpConnection(new URL("http://127.0.0.1:" + s.getLocalPort() + "/")).getInputStream());
                    } catch (IOException thrown) {
                        e = thrown;
                    }
                    assertTrue(e != null && c[1].equals(e.getMessage()), c[0] + " gives " + e);
                    f.join();
                }
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_body_up_to_the_end_and_interim_responses(Where where) throws Exception {
        where.run(() -> {
            try (ServerSocket s = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
                Where.Forked f = answer(where, s, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 OK\r\nX: a\r\n b\r\n\r\nhello", 1);
                HttpConnection c = new HttpConnection(new URL("http://127.0.0.1:" + s.getLocalPort() + "/"));
                byte[] b = new byte[10];
                InputStream in = c.getInputStream();
                assertEquals("a b", c.getHeaderField("X"));
                int n = 0;
                int now;
                while ((now = in.read(b, n, b.length - n)) > 0) {
                    n += now;
                }
                assertEquals("hello", new String(b, 0, n, StandardCharsets.ISO_8859_1));
                f.join();
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_field_longer_than_the_buffer(Where where) throws Exception {
        char[] value = new char[20_000];
        java.util.Arrays.fill(value, 'v');
        where.run(() -> {
            try (ServerSocket s = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
                Where.Forked f = answer(where, s, "HTTP/1.1 200 OK\r\nX: " + new String(value) + "\r\nContent-Length: 2\r\n\r\nok", 1);
                HttpConnection c = new HttpConnection(new URL("http://127.0.0.1:" + s.getLocalPort() + "/"));
                assertEquals(new String(value), c.getHeaderField("X"));
                assertEquals('o', c.getInputStream().read());
                f.join();
            }
        });
    }

    /** Else they would be taken for the next response. */
    @ParameterizedTest
    @EnumSource
    void a_connection_with_bytes_behind_the_response_is_not_used_again(Where where) throws Exception {
        where.run(() -> {
            try (ServerSocket s = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
                java.net.Socket[] open = new java.net.Socket[2];
                Where.Forked f = where.fork(() -> {
                    for (int i = 0; i < 2; i++) {
                        open[i] = s.accept();
                        String behind = i == 0 ? "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx" : "";
                        open[i].getOutputStream().write(("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + i + behind).getBytes(StandardCharsets.ISO_8859_1));
                    }
                });
                for (int i = 0; i < 2; i++) {
                    InputStream in = new HttpConnection(new URL("http://127.0.0.1:" + s.getLocalPort() + "/")).getInputStream();
                    assertEquals('0' + i, in.read());
                    assertEquals(-1, in.read());
                }
                f.join();
                for (java.net.Socket o : open) {
                    o.close();
                }
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_kept_connection_that_the_server_has_closed_is_replaced(Where where) throws Exception {
        where.run(() -> {
            try (ServerSocket s = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
                Where.Forked f = answer(where, s, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 3);
                for (int i = 0; i < 3; i++) {
                    InputStream in = new HttpConnection(new URL("http://127.0.0.1:" + s.getLocalPort() + "/")).getInputStream();
                    assertEquals('o', in.read());
                    assertEquals('k', in.read());
                    assertEquals(-1, in.read());
                }
                f.join();
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_silent_server_times_out(Where where) throws Exception {
        where.run(() -> {
            try (ServerSocket s = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
                HttpConnection c = new HttpConnection(new URL("http://127.0.0.1:" + s.getLocalPort() + "/"));
                c.setReadTimeout(30);
                boolean thrown = false;
                try {
                    c.getInputStream();
                } catch (SocketTimeoutException e) {
                    thrown = true;
                }
                assertTrue(thrown);
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void files_are_read_in_a_pool(Where where) throws Exception {
        java.nio.file.Path file = java.nio.file.Files.createTempFile("lamprey", ".txt");
        java.nio.file.Files.write(file, new byte[] {1, 2, 3});
        where.run(() -> {
            InputStream in = Http.openStream(file.toUri().toURL());
            assertEquals(1, in.read());
            assertEquals(2, in.read());
            in.close();
        });
        java.nio.file.Files.delete(file);
    }

    @org.junit.jupiter.api.Test
    void only_http_is_spoken() {
        assertThrows(IllegalArgumentException.class, () -> new HttpConnection(new URL("https://example.com/")));
    }
}
