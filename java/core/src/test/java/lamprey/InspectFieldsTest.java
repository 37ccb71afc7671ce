package lamprey;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lamprey.instrument.Monitors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the command {@code lamprey} reads of an endpoint's answers, this endpoint answers: the command is written for Lamprey's. */
@Timeout(240)
class InspectFieldsTest {
    /** Where each field is that the command reads. */
    private static final String[] SUMMARY = {"program", "pid", "system", "version", "uptime_ns", "threads", "hosts", "parasites", "states.running", "states.ready", "states.waiting", "runtimes.id",
        "runtimes.workers.id", "runtimes.workers.ready", "runtimes.workers.running.id", "runtimes.workers.running.name", "runtimes.workers.held_ns", "runtimes.stats.pools.blocking.threads",
        "runtimes.stats.pools.blocking.idle", "runtimes.stats.pools.blocking.queued"};
    private static final String[] GROUPS = {"missing", "more", "groups.key", "groups.count", "groups.kind", "groups.state", "groups.reason", "groups.site", "groups.names", "groups.oldest_ns", "groups.on",
        "groups.blockers"};
    private static final String[] THREAD = {"id", "runtime", "name", "kind", "state", "reason", "waiting_ns", "site", "worker", "count", "on", "blockers.id", "blockers.name", "blockers.why", "parent",
        "scope"};
    private static final String[] STACK = {"stack.function", "stack.file", "stack.line"};
    private static final String[] STUCK = {"stuck.class", "stuck.text"};
    /** Threads of a JVM belong to no worker, and those that have never blocked are in no row; delays are not told by any endpoint yet. */
    private static final List<String> NOT_TOLD = Arrays.asList("living", "unstarted", "delay", "p50_ns", "p99_ns", "max_ns");
    private static final Path COMMAND = Paths.get("..", "..", "src");

    private final Object one = new Object();
    private final Object other = new Object();
    private volatile boolean done;
    private PicoRuntime runtime;
    private InspectServer server;
    private PicoThread there;

    @BeforeEach
    void start() throws Exception {
        runtime = PicoRuntime.builder().carriers(1).build();
        server = Inspect.serve("127.0.0.1:0");
        there = new PicoThread(() -> both(one, other), "there");
        PicoThread back = new PicoThread(() -> both(other, one), "back");
        runtime.start(there);
        runtime.start(back);
        Until.holds(() -> there.getState() == Thread.State.WAITING && back.getState() == Thread.State.WAITING);
        Parking.unpark(there);
        Parking.unpark(back);
        Until.holds(() -> there.getState() == Thread.State.BLOCKED && back.getState() == Thread.State.BLOCKED);
        PicoThread runs = new PicoThread(() -> {
            while (!done) {
                Thread.yield();
            }
        }, "runs");
        runtime.start(runs);
        Until.holds(() -> runtime.crew.carriers()[0].running == runs);
    }

    @AfterEach
    void stop() {
        done = true;
        if (server != null) {
            server.close();
        }
        runtime.close();
    }

    private static void both(Object first, Object second) {
        Monitors.enter(first);
        Parking.park();
        Monitors.enter(second);
    }

    private Object ask(String path) throws Exception {
        return JsonText.parse(InspectTest.json(server, path));
    }

    /** It is there in each element of a list, which is not empty; of the runtimes in one: others are of other tests, and the pool is told of with the oldest. */
    private static void has(Object value, String field, String whole) {
        if (value instanceof List && whole.endsWith(": runtimes." + field)) {
            assertTrue(((List<?>) value).stream().anyMatch(v -> isThere(v, field)), whole + " is not in " + value);
            return;
        }
        if (value instanceof List) {
            assertTrue(!((List<?>) value).isEmpty(), whole + " is in an empty list");
            ((List<?>) value).forEach(v -> has(v, field, whole));
            return;
        }
        String[] parts = field.split("\\.", 2);
        assertTrue(value instanceof Map && ((Map<?, ?>) value).containsKey(parts[0]), whole + " is not in " + value);
        if (parts.length > 1) {
            has(((Map<?, ?>) value).get(parts[0]), parts[1], whole);
        }
    }

    private static boolean isThere(Object value, String field) {
        try {
            has(value, field, field);
            return true;
        } catch (AssertionError e) {
            return false;
        }
    }

    private void told(String path, String... fields) throws Exception {
        Object answer = ask(path);
        for (String f : fields) {
            has(answer, f, path + ": " + f);
        }
    }

    @Test
    void all_that_the_command_reads_is_told() throws Exception {
        told("/api/v1/summary", SUMMARY);
        told("/api/v1/groups", GROUPS);
        told("/api/v1/threads?search=there", "total", "threads");
        Map<?, ?> found = (Map<?, ?>) ask("/api/v1/threads?search=" + there.threadId());
        for (String f : THREAD) {
            has(found.get("threads"), f, f);
        }
        Map<?, ?> row = (Map<?, ?>) ((List<?>) found.get("threads")).get(0);
        for (String field : new String[] {"kind", "state", "reason"}) {
            String query = "/api/v1/threads?search=" + there.threadId() + "&" + field + "=";
            assertEquals(found.get("total"), ((Map<?, ?>) ask(query + ("" + row.get(field)).toUpperCase(Locale.ROOT).replace(" ", "%20"))).get("total"), field);
            String other = field.equals("kind") ? "kernel%20thread" : field.equals("state") ? "ready" : "sleeping";
            assertEquals("0", "" + ((Map<?, ?>) ask(query + other)).get("total"), field);
        }
        String thread = "/api/v1/thread/" + there.threadId() + "?runtime=" + runtime.number;
        told(thread, THREAD);
        told(thread, STACK);
        told("/api/v1/stuck", STUCK);
        Map<?, ?> worker = (Map<?, ?>) ((List<?>) ((Map<?, ?>) ask("/api/v1/threads?search=runs")).get("threads")).get(0);
        assertEquals("running 0", worker.get("state") + " " + worker.get("worker"));
    }

    /** The lists above are those of the command's source. */
    @Test
    void nothing_else_is_read() throws Exception {
        assumeTrue(Files.isDirectory(COMMAND.resolve("top")), "this is a copy of java/ alone");
        Set<String> read = new TreeSet<>();
        Pattern index = Pattern.compile("\\[((?:\"\\w+\"(?:, )?)+)\\]");
        for (String file : new String[] {"top/data.rs", "dump.rs"}) {
            Matcher m = index.matcher(new String(Files.readAllBytes(COMMAND.resolve(file)), StandardCharsets.UTF_8));
            while (m.find()) {
                read.addAll(Arrays.asList(m.group(1).replace("\"", "").split(", ")));
            }
        }
        Set<String> told = new TreeSet<>(NOT_TOLD);
        for (String[] fields : new String[][] {SUMMARY, GROUPS, THREAD, STACK, STUCK}) {
            for (String f : fields) {
                Collections.addAll(told, f.split("\\."));
            }
        }
        told.add("total");
        // The name of the pool is not read: all pools are shown.
        told.remove("blocking");
        assertEquals(told, read);
    }
}
