package lamprey.piranha;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class OptionsTest {
    private static void refused(String expected, String... args) {
        String message = assertThrows(IllegalArgumentException.class, () -> Options.parse(args)).getMessage();
        assertTrue(message.contains(expected), message);
    }

    @Test
    void values_are_taken() {
        Options o = Options.parse("--pages", "7", "http://h/", "--policy", "LIFO", "--no-robots", "--program", "pool");
        assertEquals(7, o.pages);
        assertEquals(Order.LIFO, o.policy);
        assertEquals("http://h/", o.start.get(0).toString());
        assertTrue(!o.robots && o.program == Options.Program.POOL);
    }

    @Test
    void what_is_wrong_is_named() {
        refused("no address");
        refused("example.org", "example.org");
        refused("--pages 0", "--pages", "0", "http://h/");
        refused("--pages x", "--pages", "x", "http://h/");
        refused("--pages", "http://h/", "--pages");
        refused("--frobnicate", "--frobnicate", "1", "http://h/");
        refused("fifo, lifo", "--policy", "best", "http://h/");
        refused("coroutines, virtual, platform", "--backend", "green", "http://h/");
        refused("--agent", "--agent", "x\r\ny: z", "http://h/");
    }
}
