package lamprey.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLConnection;
import java.net.URLStreamHandler;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is sent, and what is made of odd answers: as the JDK does, against a server that answers with given bytes. */
@Timeout(240)
class HttpRawTest {
    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    private static java.net.ServerSocket server;
    /** For the path "/n", and whether to close after it. */
    private static final List<String> ANSWERS = Collections.synchronizedList(new ArrayList<>());
    private static volatile String lastRequest = "";

    @BeforeAll
    static void start() throws IOException {
        server = new java.net.ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        daemon(() -> {
            while (true) {
                java.net.Socket s = server.accept();
                daemon(() -> serve(s));
            }
        });
    }

    @AfterAll
    static void stop() throws IOException {
        server.close();
    }

    private interface Task {
        void run() throws Exception;
    }

    private static void daemon(Task task) {
        Thread t = new Thread(() -> {
            try {
                task.run();
            } catch (Exception e) {
                // The server, or a connection, has been closed.
            }
        });
        t.setDaemon(true);
        t.start();
    }

    private static void serve(java.net.Socket s) throws IOException {
        try (java.net.Socket closed = s) {
            InputStream in = s.getInputStream();
            while (true) {
                ByteArrayOutputStream head = new ByteArrayOutputStream();
                String text;
                do {
                    int c = in.read();
                    if (c < 0) {
                        return;
                    }
                    head.write(c);
                    text = head.toString("ISO-8859-1");
                } while (!text.endsWith("\r\n\r\n"));
                lastRequest = text;
                int n = Integer.parseInt(text.replaceAll("(?s)^\\w+ /(\\d+).*", "$1"));
                String answer = ANSWERS.get(n);
                s.getOutputStream().write(answer.getBytes(StandardCharsets.ISO_8859_1));
                if (!answer.contains("Keep: yes")) {
                    return;
                }
            }
        }
    }

    private static String base() {
        return "http://127.0.0.1:" + server.getLocalPort();
    }

    /** A path with this answer. */
    private static String path(String answer) {
        synchronized (ANSWERS) {
            ANSWERS.add(answer);
            return "/" + (ANSWERS.size() - 1);
        }
    }

    private interface Setup {
        void set(HttpURLConnection c) throws IOException;
    }

    private static HttpURLConnection open(boolean jdk, String file) throws IOException {
        URL url = new URL(base() + file);
        return jdk ? (HttpURLConnection) url.openConnection() : (HttpURLConnection) Http.openConnection(url);
    }

    private static String read(InputStream in) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] b = new byte[100];
        int n;
        while ((n = in.read(b)) >= 0) {
            out.write(b, 0, n);
        }
        in.close();
        return out.toString("ISO-8859-1");
    }

    /** Messages may say more than the JDK's. */
    private static String failure(Exception e) {
        return e.getClass().getSimpleName() + " " + String.valueOf(e.getMessage()).replaceAll("(Invalid Http response|Premature EOF)[^!]*", "$1").replaceAll("/\\d+$", "/");
    }

    private static List<String> sorted(List<String> values) {
        List<String> sorted = new ArrayList<>(values);
        Collections.sort(sorted);
        return sorted;
    }

    private static String talk(boolean jdk, String answer, Setup setup) {
        StringBuilder said = new StringBuilder();
        try {
            HttpURLConnection c = open(jdk, path(answer));
            setup.set(c);
            try {
                said.append(c.getResponseCode()).append(' ').append(c.getResponseMessage());
            } catch (IOException e) {
                said.append(failure(e));
            }
            Map<String, Object> fields = new TreeMap<>();
            if (c.getResponseCode() >= 0) {
                // JDK 25 gives repeated fields in order, those before it the last one first.
                c.getHeaderFields().forEach((name, values) -> fields.put(String.valueOf(name), sorted(values)));
            }
            said.append(' ').append(fields).append(' ').append(c.getContentLength()).append(' ');
            try {
                said.append(read(c.getInputStream()));
            } catch (IOException e) {
                said.append(failure(e));
            }
        } catch (IOException | RuntimeException e) {
            said.append(failure(e));
        }
        return said.toString();
    }

    @ParameterizedTest
    @EnumSource
    void odd_answers_are_taken_as_by_the_jdk(Where where) throws Exception {
        String[] answers = {
            OK, "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.1 abc OK\r\nContent-Length: 2\r\n\r\nhi", "hello world\r\n", "HTTP/1.1 200 OK\r\nFoo: b",
            "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhi", "HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\nhi",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 4\r\n\r\nhiho", "HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nContent-Length: 2\r\n\r\nhi",
            "HTTP/1.1 200 OK\r\nX: a\r\n  b\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nhi\r\n0\r\nT: 1\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhi",
            "HTTP/1.1 302 F\r\nLocation: foo://x\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.1 302 F\r\nLocation: https://x.invalid/\r\nContent-Length: 2\r\n\r\nhi",
            "HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.1 100 C\r\n\r\n" + OK, "HTTP/1.1 204 N\r\n\r\n",
        };
        where.run(() -> {
            for (String a : answers) {
                assertEquals(talk(true, a, c -> {}), talk(false, a, c -> {}), a);
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void chunk_sizes_are_hexadecimal_digits_only(Where where) throws Exception {
        where.run(() -> {
            for (String size : new String[] {"+2", "-2", "zz", "", "0x2", "11111111111111111"}) {
                HttpURLConnection c = open(false, path("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + size + "\r\nhi\r\n0\r\n\r\n"));
                boolean refused = false;
                try {
                    read(c.getInputStream());
                } catch (IOException e) {
                    refused = e.getMessage().contains("size of a chunk");
                }
                assertTrue(refused, size);
            }
        });
    }

    private static String sent(boolean jdk, String extra, Setup setup) {
        lastRequest = "";
        try {
            HttpURLConnection c = open(jdk, path(OK) + extra);
            setup.set(c);
            read(c.getInputStream());
        } catch (IOException | RuntimeException e) {
            return failure(e) + lastRequest;
        }
        // The number of the answer is not the same; Accept is not with every JDK.
        return lastRequest.replaceFirst("/\\d+", "/").replaceFirst("Accept: .*\r\n", "").replaceFirst("(?i)content-type", "Content-type");
    }

    private static void post(HttpURLConnection c, String type) throws IOException {
        c.setDoOutput(true);
        if (type != null) {
            c.setRequestProperty("content-type", type);
        }
        c.getOutputStream().write("{}".getBytes(StandardCharsets.ISO_8859_1));
    }

    @ParameterizedTest
    @EnumSource
    void requests_are_the_bytes_that_the_jdk_sends(Where where) throws Exception {
        Setup[] setups = {
            c -> {}, c -> c.setRequestProperty("X-A", "b\r\nEvil: 1"), c -> c.setRequestProperty("X-A", "b\nEvil: 1"), c -> c.setRequestProperty("X-A\r\nEvil", "1"),
            c -> c.addRequestProperty("X:A", "1"), c -> c.addRequestProperty("X-A", "b\n"), c -> c.setRequestProperty("X-A", "b\r\n c"),
            c -> c.setRequestProperty("Host", "evil.example"), c -> c.setRequestProperty("Content-Length", "100"), c -> c.addRequestProperty("Transfer-Encoding", "chunked"),
            c -> c.setRequestProperty("Upgrade", "h2c"), c -> c.setRequestProperty("trailer", "T"), c -> c.setRequestProperty("Sec-Fetch-Mode", "x"),
            c -> c.setRequestProperty("Connection", "close"), c -> c.setRequestProperty("Connection", "Upgrade"), c -> c.setRequestProperty("Via", "x"),
            c -> c.setRequestProperty("User-Agent", "me"), c -> c.setIfModifiedSince(1_000_000_000_000L), c -> c.setUseCaches(false),
            c -> {
                c.addRequestProperty("A", "1");
                c.addRequestProperty("B", "2");
                c.addRequestProperty("a", "3");
                c.setRequestProperty("A", "4");
            },
            c -> post(c, null), c -> post(c, "application/json"),
            c -> {
                c.setRequestMethod("PUT");
                post(c, null);
            },
        };
        where.run(() -> {
            for (int i = 0; i < setups.length; i++) {
                assertEquals(sent(true, "", setups[i]), sent(false, "", setups[i]), "case " + i);
            }
            for (String extra : new String[] {"?a=b", "/a b", "#x", "/a\nEvil: 1", "/a HTTP/1.1\r\nHost: x\r\n\r\nGET /b"}) {
                assertEquals(sent(true, extra, c -> {}), sent(false, extra, c -> {}), extra);
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void letters_of_a_path_are_in_the_charset_of_the_platform(Where where) throws Exception {
        where.run(() -> {
            String expected = new String("/\u00e9".getBytes(Charset.defaultCharset()), StandardCharsets.ISO_8859_1);
            String line = sent(false, "/\u00e9", c -> {}).split("\r\n")[0];
            assertTrue(line.contains(expected), line);
        });
    }

    @Test
    void properties_are_told_as_by_the_jdk() throws Exception {
        List<String> said = new ArrayList<>();
        for (boolean jdk : new boolean[] {true, false}) {
            HttpURLConnection c = open(jdk, "/0");
            c.addRequestProperty("A", "1");
            c.addRequestProperty("A", "2");
            c.setRequestProperty("Authorization", "secret");
            c.setRequestProperty("Host", "x");
            said.add("" + sorted(c.getRequestProperties().get("A")) + c.getRequestProperties().keySet() + c.getRequestProperty("a") + c.getRequestProperty("Authorization") + c.getRequestProperty("Host")
                + c.getRequestProperty(null) + assertThrows(NullPointerException.class, () -> c.setRequestProperty(null, "x")).getMessage());
        }
        assertEquals(said.get(0), said.get(1));
    }

    @Test
    void a_carriage_return_alone_is_refused_too() throws Exception {
        HttpURLConnection c = open(false, "/0");
        assertThrows(IllegalArgumentException.class, () -> c.setRequestProperty("A", "b\rEvil: 1"));
        assertThrows(MalformedURLException.class, () -> new HttpConnection(new URL(base() + "/a\rb")).connect());
        assertThrows(MalformedURLException.class, () -> new HttpConnection(new URL("http://a b/")).connect());
    }

    @ParameterizedTest
    @EnumSource
    void surplus_bytes_are_not_the_next_answer(Where where) throws Exception {
        String evil = "HTTP/1.1 200 EVIL\r\nContent-Length: 4\r\n\r\nevil";
        where.run(() -> {
            for (String first : new String[] {"HTTP/1.1 200 OK\r\nKeep: yes\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.1 204 N\r\nKeep: yes\r\n\r\n",
                "HTTP/1.1 200 OK\r\nKeep: yes\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"}) {
                read(open(false, path(first + evil)).getInputStream());
                HttpURLConnection second = open(false, path(OK));
                assertEquals("OK", second.getResponseMessage(), first);
                assertEquals("hi", read(second.getInputStream()));
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_failed_redirect_leaves_the_connection_that_it_gave_back(Where where) throws Exception {
        where.run(() -> {
            String good = path("HTTP/1.1 200 OK\r\nKeep: yes\r\nContent-Length: 2\r\n\r\nhi");
            String bad = path("HTTP/1.1 302 F\r\nKeep: yes\r\nLocation: foo://x\r\nContent-Length: 0\r\n\r\n");
            synchronized (ANSWERS) {
                ANSWERS.add("HTTP/1.1 302 F\r\nKeep: yes\r\nLocation: /" + ANSWERS.size() + "\r\nContent-Length: 0\r\n\r\n");
            }
            String loop = "/" + (ANSWERS.size() - 1);
            for (String first : Arrays.asList(bad, loop)) {
                HttpURLConnection c = open(false, first);
                boolean failed = false;
                try {
                    c.getInputStream();
                } catch (IOException e) {
                    failed = true;
                }
                assertTrue(failed);
                HttpURLConnection next = open(false, good);
                InputStream in = next.getInputStream();
                // The failed one has no hold on the connection any more, which is the next one's now.
                c.disconnect();
                assertEquals("hi", read(in));
            }
        });
    }

    @Test
    void a_handler_of_ones_own_is_kept() throws Exception {
        URL url = new URL(null, "http://x.invalid/", new URLStreamHandler() {
            @Override
            protected URLConnection openConnection(URL u) {
                return new URLConnection(u) {
                    @Override
                    public void connect() {}

                    @Override
                    public InputStream getInputStream() {
                        return new ByteArrayInputStream("mine".getBytes(StandardCharsets.ISO_8859_1));
                    }
                };
            }
        });
        assertEquals("mine", read(Http.openStream(url)));
    }

    @ParameterizedTest
    @EnumSource
    void content_is_had(Where where) throws Exception {
        where.run(() -> {
            String text = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nhi";
            assertEquals("hi", read((InputStream) Http.getContent(new URL(base() + path(text)))));
            assertEquals("hi", read((InputStream) Http.getContent(open(false, path(text)))));
            assertEquals("hi", read((InputStream) Http.getContent(new URL(base() + path(text)), new Class<?>[] {InputStream.class})));
            assertEquals(null, Http.getContent(open(false, path(text)), new Class<?>[] {Integer.class}));
        });
    }
}
