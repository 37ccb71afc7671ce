package lamprey;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An endpoint whose clients are slow, silent, many, or speak no HTTP. */
@Timeout(240)
class InspectClientsTest {
    private static final long FOR_EVER = TimeUnit.DAYS.toNanos(1);
    private static final String GET = "GET /api/v1/summary HTTP/1.1\r\nHost: localhost\r\n";

    private static InspectServer open(long patience) throws IOException {
        return InspectServer.open("127.0.0.1:0", null, patience);
    }

    private static Socket connected(InspectServer s, String text) throws IOException {
        Socket c = new Socket();
        // So that little of an answer that nobody reads fits in.
        c.setReceiveBufferSize(4096);
        c.connect(new InetSocketAddress(s.address().getAddress(), s.address().getPort()));
        c.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        return c;
    }

    /** All that comes until the connection ends. */
    private static String rest(Socket c) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        try (Socket open = c) {
            InputStream in = open.getInputStream();
            for (int b = in.read(); b >= 0; b = in.read()) {
                all.write(b);
            }
        } catch (SocketException e) {
            // It was closed before all was read.
        }
        return new String(all.toByteArray(), StandardCharsets.UTF_8);
    }

    private static String answer(InspectServer s, String text) throws IOException {
        return rest(connected(s, text));
    }

    private static void close(List<Socket> all) throws IOException {
        for (Socket c : all) {
            c.close();
        }
    }

    @Test
    void halves_of_requests_keep_nobody_waiting_and_lose_their_place() throws Exception {
        try (InspectServer s = open(FOR_EVER)) {
            List<Socket> halves = new ArrayList<>();
            int count = 6 * InspectServer.MOST;
            for (int i = 0; i < count; i++) {
                halves.add(connected(s, i % 3 == 0 ? "" : i % 3 == 1 ? GET : "GET"));
                if (i % 10 == 9) {
                    InspectTest.json(s, "/api/v1/summary");
                }
            }
            for (Socket c : halves.subList(0, count - InspectServer.MOST)) {
                assertEquals("", rest(c));
            }
            close(halves);
        }
    }

    @Test
    void answers_that_nobody_reads_keep_nobody_waiting() throws Exception {
        try (InspectServer s = open(FOR_EVER)) {
            StringBuilder many = new StringBuilder();
            for (int i = 0; i < 300; i++) {
                many.append("GET /page.css HTTP/1.1\r\nHost: localhost\r\n\r\n");
            }
            List<Socket> deaf = new ArrayList<>();
            for (int i = 0; i < InspectServer.MOST + 8; i++) {
                deaf.add(connected(s, many.toString()));
                InspectTest.json(s, "/api/v1/summary");
            }
            close(deaf);
        }
    }

    @Test
    void a_request_has_so_much_time() throws Exception {
        try (InspectServer s = open(TimeUnit.MILLISECONDS.toNanos(100))) {
            Socket silent = connected(s, "");
            String late = answer(s, GET);
            assertTrue(late.startsWith("HTTP/1.1 408 ") && late.contains("{\"error\":\"the head has not come within "), late);
            assertEquals("", rest(silent));
        }
    }

    @Test
    void requests_come_one_after_the_other_and_in_pieces() throws Exception {
        try (InspectServer s = open(FOR_EVER)) {
            String three = "\r\n" + GET + "\r\nHEAD /page.css HTTP/1.1\nHOST: [::1]:7\n\n" + GET + "Connection: Keep-Alive, close\r\n\r\n" + GET;
            String answers = answer(s, three);
            assertEquals(4, answers.split("HTTP/1\\.1 200 OK\r\n", -1).length, answers);
            assertTrue(answers.contains("\r\nContent-Type: text/css; charset=utf-8\r\n") && !answers.contains("{\n"), answers);
            assertEquals(2, answers.split("\"system\":\"picothreads\"", -1).length - 1, answers);
            assertTrue(answer(s, "GET /api/v1/stuck HTTP/1.0\r\n\r\n").contains("\r\nConnection: close\r\n"));
            Socket slow = connected(s, "");
            for (char c : (GET + "Connection: close\r\n\r\n").toCharArray()) {
                slow.getOutputStream().write(c);
                InspectTest.json(s, "/api/v1/stuck");
            }
            assertTrue(rest(slow).startsWith("HTTP/1.1 200 OK\r\n"));
        }
    }

    @Test
    void what_is_no_request_is_answered_and_ends_the_connection() throws Exception {
        try (InspectServer s = open(FOR_EVER)) {
            String[][] cases = {{"400", "hello\r\n\r\n"}, {"400", "GET /\r\n\r\n"}, {"400", "GET / HTTP/2.0\r\n\r\n"}, {"400", "GET / HTTP/1.1\r\n\r\n"}, {"400", GET + "Host: localhost\r\n\r\n"},
                {"400", GET + " folded\r\n\r\n"}, {"400", GET + "X: \u0001\r\n\r\n"}, {"400", GET + "Content-Length: 3\r\n\r\nabc"}, {"400", GET + "Transfer-Encoding: chunked\r\n\r\n"},
                {"400", "GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n"}, {"400", "GET /?%zz HTTP/1.1\r\nHost: localhost\r\n\r\n"}, {"403", GET + "Origin: http://evil.example\r\n\r\n"},
                {"403", GET + "Origin: x\r\n\r\n"}, {"403", GET + "Sec-Fetch-Site: cross-site\r\n\r\n"}, {"200", GET + "Origin: http://LOCALHOST\r\nConnection: close\r\n\r\n"},
                {"405", "POST / HTTP/1.1\r\nHost: localhost\r\n\r\n"}, {"431", GET + "X: " + new String(new char[20_000]).replace('\0', 'x')},
                {"431", GET + new String(new char[64]).replace("\0", "X: y\r\n") + "\r\n"}};
            for (String[] c : cases) {
                String answer = answer(s, c[1]);
                assertTrue(answer.startsWith("HTTP/1.1 " + c[0] + " ") && answer.contains("\r\nConnection: close\r\n"), () -> c[1] + ": " + answer);
                if (!c[0].equals("200")) {
                    assertTrue(answer.substring(answer.indexOf("\r\n\r\n") + 4).startsWith("{\"error\":\""), answer);
                }
            }
        }
    }

    @Test
    void its_end_closes_the_connections() throws Exception {
        Socket waits;
        try (InspectServer s = open(FOR_EVER)) {
            waits = connected(s, GET);
            InspectTest.json(s, "/api/v1/summary");
        }
        assertEquals("", rest(waits));
    }

    /** A jar that was built without the rest of the repository. */
    @Test
    void a_page_that_is_missing_is_told() throws Exception {
        String text = new String(InspectPage.answer("/", "nowhere").bytes(false, false), StandardCharsets.UTF_8);
        assertTrue(text.startsWith("HTTP/1.1 404 ") && text.contains("\r\nContent-Type: text/plain; charset=utf-8\r\n") && text.contains("it was built from a copy of the folder java/ alone"), text);
    }
}
