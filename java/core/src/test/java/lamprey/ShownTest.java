package lamprey;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Names of threads that would forge lines, write over a terminal, or break what reads them. */
@Timeout(240)
class ShownTest {
    private static final String[] NAMES = {"quote\" #1 RUNNABLE", "back\\slash\\", "two\nlines\r\nlamprey: deadlock: all", "\u001b[2J\u001b[31mred\u0007", "\u0085next \u009b0m", "paragraph\u2028and\u2029end",
        "\u202esdrawkcab\u202c\u200b", "half \ud83d", "\ude00 other half", "whole \ud83d\ude00", "<script>alert(1)</script>&amp;", "\0\0", "caf\u00e9 \u4e2d"};

    @Test
    void what_is_unseen_becomes_an_escape() {
        assertEquals("a\\n\\r\\t\\u001b[2J\\u0085\\u2028\\u202e\\ud83d\\udb40\\udc01\ud83d\ude00\u00e9", Shown.plain("a\n\r\t\u001b[2J\u0085\u2028\u202e\ud83d\udb40\udc01\ud83d\ude00\u00e9"));
        assertEquals("\"a\\\"b\\\\n\\n\"", Shown.quoted("a\"b\\n\n"));
        String usual = "pool-1 \"\u00e9\" \\";
        assertSame(usual, Shown.plain(usual));
    }

    private static void plain(String text) {
        text.codePoints().filter(c -> c != '\n').forEach(c -> assertEquals(Shown.plain(new String(Character.toChars(c))), new String(Character.toChars(c)), text));
    }

    @Test
    void names_are_shown_as_what_they_are() throws Exception {
        try (PicoRuntime r = PicoRuntime.builder().carriers(1).build(); InspectServer s = Inspect.serve("127.0.0.1:0")) {
            List<PicoThread> all = new ArrayList<>();
            for (String name : NAMES) {
                PicoThread t = new PicoThread(Parking::park, name);
                all.add(t);
                r.start(t);
                PicoThread joins = new PicoThread(() -> {
                    try {
                        t.join();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }, "joins " + name);
                all.add(joins);
                r.start(joins);
            }
            Until.holds(() -> all.stream().allMatch(t -> t.getState() == Thread.State.WAITING));
            String dump = r.dump();
            plain(dump);
            for (String line : dump.split("\n")) {
                assertTrue(line.matches("\\d+ threads that block or have blocked|\".*|    at .*|carrier lamprey.*: 0 ready, runs none"), line);
            }
            assertEquals("\"quote\\\" #1 RUNNABLE\" #" + all.get(0).threadId(), all.get(0).shown());
            all.forEach(t -> plain(t.shown()));
            Set<Object> names = new HashSet<>();
            Map<?, ?> threads = (Map<?, ?>) JsonText.parse(InspectTest.json(s, "/api/v1/threads?limit=1000"));
            for (Object t : (List<?>) threads.get("threads")) {
                names.add(((Map<?, ?>) t).get("name"));
            }
            for (String name : NAMES) {
                String whole = name.endsWith("\ud83d") ? name.replace('\ud83d', '\ufffd') : name.startsWith("\ude00") ? name.replace('\ude00', '\ufffd') : name;
                assertTrue(names.contains(whole) && names.contains("joins " + whole), () -> Shown.plain(name) + " is not in " + names);
            }
            for (String path : new String[] {"summary", "groups", "groups?stacks=1", "graph", "stuck"}) {
                InspectTest.json(s, "/api/v1/" + path);
            }
            plain(InspectTest.ask(s, "/api/v1/dump", "Host: localhost").replace("\r\n", "\n"));
        }
    }
}
