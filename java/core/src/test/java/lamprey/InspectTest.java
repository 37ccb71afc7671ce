package lamprey;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lamprey.channel.Channel;
import lamprey.instrument.Monitors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is told of threads, by calls and over HTTP. */
@Timeout(240)
class InspectTest {
    private static final String TOKEN = "0123456789abcdef";
    private final Object one = new Object();
    private final Object other = new Object();
    private final Channel<Integer> never = new Channel<>();
    private PicoRuntime runtime;
    private PicoThread there;
    private PicoThread back;

    @BeforeEach
    void start() {
        runtime = PicoRuntime.builder().carriers(2).build();
        there = new PicoThread(() -> both(one, other), "there");
        back = new PicoThread(() -> both(other, one), "back \"\u00e9\"\n");
        runtime.start(there);
        runtime.start(back);
        for (int i = 0; i < 50; i++) {
            runtime.start(() -> {
                try {
                    never.recv();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
        }
        Until.holds(() -> runtime.threads().stream().filter(t -> t.getState() == Thread.State.WAITING || t.getState() == Thread.State.BLOCKED).count() == 52);
        Parking.unpark(there);
        Parking.unpark(back);
        Until.holds(() -> there.getState() == Thread.State.BLOCKED && back.getState() == Thread.State.BLOCKED);
    }

    @AfterEach
    void stop() {
        runtime.close();
    }

    private static void both(Object first, Object second) {
        Monitors.enter(first);
        Parking.park();
        Monitors.enter(second);
    }

    private List<ThreadRow> ring() {
        List<List<ThreadRow>> mine = Inspect.stuck();
        mine.removeIf(r -> r.get(0).runtime() != runtime);
        assertEquals(1, mine.size());
        return mine.get(0);
    }

    @Test
    void rows_say_who_waits_for_whom() {
        List<ThreadRow> ring = ring();
        assertEquals(2, ring.size());
        ThreadRow r = ring.get(0).thread() == there ? ring.get(0) : ring.get(1);
        assertEquals(WaitReason.MONITOR, r.reason());
        assertEquals(back, r.holders().get(0));
        assertTrue(r.detail().contains(", owned by back"), r.detail());
        assertTrue(r.waitingNanos() >= 0 && !r.isLimited() && !r.isRunning() && !r.isKernel());
        assertTrue(r.entry().getMethodName().contains("start") && r.stack()[0].getMethodName().equals("both"), r.entry().toString());
        String dump = runtime.dump();
        assertTrue(dump.contains("; and 49 others in the same way") && dump.contains("on a channel: it receives"), dump);
        assertTrue(dump.contains("\"back \\\"\u00e9\\\"\\n\" #" + back.threadId() + " BLOCKED") && dump.contains(", owned by back \"\u00e9\"\\n, for "), dump);
    }

    static String ask(InspectServer s, String path, String... headers) throws IOException {
        try (Socket c = new Socket(s.address().getAddress(), s.address().getPort())) {
            String head = "GET " + path + " HTTP/1.1\r\nConnection: close\r\n" + String.join("\r\n", headers) + "\r\n\r\n";
            c.getOutputStream().write(head.getBytes(StandardCharsets.UTF_8));
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            InputStream in = c.getInputStream();
            for (int b = in.read(); b >= 0; b = in.read()) {
                all.write(b);
            }
            return new String(all.toByteArray(), StandardCharsets.UTF_8);
        }
    }

    static String json(InspectServer s, String path) throws IOException {
        String answer = ask(s, path, "Host: localhost:1");
        assertTrue(answer.startsWith("HTTP/1.1 200 ") && answer.contains("\r\nContent-Type: application/json\r\n"), answer);
        String body = answer.substring(answer.indexOf("\r\n\r\n") + 4);
        JsonText.parse(body);
        return body;
    }

    @Test
    void the_endpoint_tells_the_same() throws Exception {
        try (InspectServer s = Inspect.serve("127.0.0.1:0")) {
            String summary = json(s, "/api/v1/summary");
            assertTrue(summary.contains("\"v\":1,\"system\":\"picothreads\"") && summary.contains("\"reason\":\"on a channel\",\"count\":"), summary);
            for (String stacks : new String[] {"", "?stacks=1"}) {
                String groups = json(s, "/api/v1/groups" + stacks);
                assertTrue(groups.contains("\"count\":50,") && groups.contains("lamprey.channel.Channel.recv"), groups);
            }
            Matcher key = Pattern.compile("\"key\":\"(\\w+)\"[^{}]*\"count\":50,").matcher(json(s, "/api/v1/groups"));
            assertTrue(key.find());
            String some = json(s, "/api/v1/threads?offset=48&limit=5&group=" + key.group(1));
            assertTrue(some.startsWith("{\"total\":50,") && some.split("\"id\"").length == 3, some);
            String found = json(s, "/api/v1/threads?search=Back");
            assertTrue(found.startsWith("{\"total\":2,") && found.contains("\"name\":\"back \\\"\u00e9\\\"\\u000a\"") && found.contains("\"why\":\"holds it\""), found);
            String thread = json(s, "/api/v1/thread/" + there.threadId());
            assertTrue(thread.contains("\"name\":\"there\"") && thread.contains("\"function\":\"lamprey.InspectTest.both\",\"file\":\"InspectTest.java\",\"line\":"), thread);
            String graph = json(s, "/api/v1/graph");
            assertTrue(graph.contains("\"from\":\"" + there.threadId() + "\",\"to\":\"" + back.threadId() + "\",\"label\":\"entering a monitor\"") && graph.contains("\"stuck\":true"), graph);
            assertTrue(json(s, "/api/v1/stuck").contains("{\"class\":\"certain\",\"text\":\"these threads wait for each other:"));
            assertTrue(ask(s, "/api/v1/dump", "Host: 127.0.0.1").contains("\"there\" #" + there.threadId() + " BLOCKED, entering a monitor: "));
            wholePage(s);
        }
    }

    /** The page, and all that it loads, and what that loads. */
    private static void wholePage(InspectServer s) throws IOException {
        Set<String> seen = new LinkedHashSet<>();
        Deque<String> next = new ArrayDeque<>();
        next.add("/");
        while (!next.isEmpty()) {
            String path = next.remove();
            if (seen.add(path)) {
                String answer = ask(s, path, "Host: [::1]:80");
                assertTrue(answer.startsWith("HTTP/1.1 200 ") && answer.contains("Content-Security-Policy: default-src 'none'; "), () -> path + ": " + answer);
                Matcher m = Pattern.compile("(?:from|src=|href=)\\s*[\"'](?:\\./)?([a-z-]+\\.(?:js|css))[\"']").matcher(answer);
                while (m.find()) {
                    next.add("/" + m.group(1));
                }
            }
        }
        assertTrue(seen.contains("/page.js") && seen.contains("/page.css") && seen.size() > 5, seen::toString);
    }

    @Test
    void who_may_not_ask_is_refused() throws Exception {
        try (InspectServer s = Inspect.serve("127.0.0.1:0")) {
            for (String host : new String[] {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example:1", "127.0.0.1:8x", ""}) {
                assertTrue(ask(s, "/api/v1/summary", "Host: " + host).startsWith("HTTP/1.1 403 "), host);
            }
            String[] none = {"/api/v1/recording", "/api/v1/stacks", "/api/v1/scopes", "/api/v1/metrics", "/etc/passwd", "/api/v1/thread/1", "/page/../page.js"};
            for (String path : none) {
                String answer = ask(s, path, "Host: localhost");
                assertTrue(answer.startsWith("HTTP/1.1 404 ") && answer.contains("{\"error\":\""), answer);
                assertTrue(answer.contains("\nLamprey-Endpoint: 1\r\n"), answer);
                String name = path.substring(path.lastIndexOf('/') + 1);
                assertEquals(!name.matches("passwd|1|page.js"), json(s, "/api/v1/summary").contains(",\"" + name + "\":\"") || json(s, "/api/v1/summary").contains("{\"" + name + "\":\""), name);
            }
            assertTrue(ask(s, "/api/v1/thread/x", "Host: localhost").startsWith("HTTP/1.1 400 "));
            assertTrue(ask(s, "/api/v1/threads?limit=-1", "Host: localhost").startsWith("HTTP/1.1 400 "));
            for (String odd : new String[] {"/api/v1/threads?kind=host", "/api/v1/threads?state=asleep", "/api/v1/threads?reason=none", "/api/v1/threads?stat=ready", "/api/v1/summary?a=b", "/api/v1/groups?stack=1"}) {
                String answer = ask(s, odd, "Host: localhost");
                assertTrue(answer.startsWith("HTTP/1.1 400 "), odd + answer);
            }
            assertTrue(ask(s, "/api/v1/threads?kind=host", "Host: localhost").contains("kind=host: write one of light thread, kernel thread"));
            assertTrue(ask(s, "/api/v1/summary?a=b", "Host: localhost").contains("/api/v1/summary takes no parameters"));
            assertTrue(ask(s, "/api/v1/threads?limit=4000000000&offset=4000000000", "Host: localhost").startsWith("HTTP/1.1 200 "));
        }
        assertThrows(IllegalArgumentException.class, () -> Inspect.serve("0.0.0.0:0"));
        assertThrows(IllegalArgumentException.class, () -> Inspect.serve("127.0.0.1"));
        assertThrows(IllegalArgumentException.class, () -> Inspect.serve("127.0.0.1:65536"));
        assertThrows(IllegalArgumentException.class, () -> Inspect.serveWithToken("127.0.0.1:0", "short"));
        try (InspectServer s = Inspect.serveWithToken("0.0.0.0:0", TOKEN)) {
            assertTrue(ask(s, "/api/v1/summary", "Host: name.example", "Authorization: Bearer " + TOKEN).startsWith("HTTP/1.1 200 "));
            assertTrue(ask(s, "/api/v1/summary?token=" + TOKEN, "Host: x").startsWith("HTTP/1.1 200 "));
            assertTrue(ask(s, "/page.js", "Host: x").startsWith("HTTP/1.1 200 "));
            for (String path : new String[] {"/", "/api/v1/summary", "/api/v1/summary?token=0123456789abcdee"}) {
                assertTrue(ask(s, path, "Host: localhost").startsWith("HTTP/1.1 401 "), path);
            }
            assertThrows(IOException.class, () -> Inspect.serve("127.0.0.1:" + s.address().getPort()));
        }
    }
}
