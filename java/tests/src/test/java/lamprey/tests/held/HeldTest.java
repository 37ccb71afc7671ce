package lamprey.tests.held;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import lamprey.tests.Bytes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Code that is not transformed holds carriers, recursion does not end, stacks are too small, classes are found by name: programs go on, say what is wrong, and can be ended. */
@Timeout(240)
class HeldTest {
    private static final String NAMED = String.join("\n", "Foreign.park 1", "Foreign.sleep 1", "Foreign.latch 1", "Foreign.await 1", "Foreign.monitor 1", "Foreign.lock 1",
        "Foreign.queue 1", "Foreign.future 1", "Foreign.socket 1", "all woke", "messages 12, computing false, callers true", "");

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({"-Dlamprey.carriers=1 -Dlamprey.scheduler=lifo,", "-Dlamprey.carriers=3 -Dlamprey.scheduler=priority, computes"})
    void every_place_that_holds_a_carrier_is_named_once_and_others_go_on(String options, String argument) throws Exception {
        Launched p = new Launched(folder, "Kinds", "Kinds$Foreign");
        assertEquals(NAMED, p.run(0, options, argument).out);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-Dlamprey.carriers=1", "-Dlamprey.carriers=2", "-Dlamprey.carriers=1 -Dlamprey.scheduler=lifo"})
    void who_computes_while_others_are_ready_is_named(String options) throws Exception {
        Launched p = new Launched(folder, "Computes");
        String err = p.run(0, options).err;
        assertTrue(err.matches("(?s)(.*\n)?lamprey: light thread \"(first|second)\\\\u001b\\[2J\\\\nlamprey: forged\" #\\d+ has held the carrier lamprey-1-\\d for \\d+\\.\\d s: it computes, and something is ready behind it\\. .*\n"
            + " {4}at Computes\\.compute\\(Computes\\.java:.*"), err);
        assertEquals("", p.run(0, options + " -Dlamprey.stuckAfter=off", "short").err);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-Dlamprey.carriers=1", "-Dlamprey.carriers=2"})
    void initialisers_do_not_take_all_carriers(String options) throws Exception {
        Launched p = new Launched(folder, "Initialisers");
        assertEquals(p.plain().out, p.run(0, options).out);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-Dlamprey.maxDepth=2000 -Dlamprey.carriers=1", "-Dlamprey.maxDepth=2000 -Dlamprey.simulate=1"})
    void endless_recursion_ends_in_a_stack_overflow(String options) throws Exception {
        Launched p = new Launched(folder, "Recursion");
        assertEquals("seldom true\nalways true\nlocked true\n0 false\nconstructors true\ndeep returned\n", p.run(0, options).out);
    }

    /** Large stacks end while code is being compiled, and in compiled code. */
    @ParameterizedTest
    @ValueSource(strings = {"-Dlamprey.carriers=2", "-Dlamprey.carriers=2 -Xss4m"})
    void the_stack_ends_in_synchronized_methods(String options) throws Exception {
        assertEquals("true 100\ntrue true 0\ntrue\n", new Launched(folder, "Overflow").run(0, options).out);
    }

    @Test
    void limits_at_both_ends_of_their_range() throws Exception {
        Launched p = new Launched(folder, "Limits");
        assertEquals(p.plain().out, p.run(0, "-Dlamprey.carriers=1").out);
    }

    /** With one carrier, which a class of the JDK would keep. */
    @Test
    void classes_by_name() throws Exception {
        Launched p = new Launched(folder, "Named");
        assertEquals(p.plain().out, p.run(0, "-Dlamprey.carriers=1 -Dlamprey.extraCarriers=0").out);
    }

    @Test
    void large_stacks() throws Exception {
        Launched p = new Launched(folder, "Stack");
        assertEquals("200000 20000\nchild\nlarge false\nlarge end\nfalse TERMINATED\nlast\n", p.run(0, "-Dlamprey.carriers=1").out);
    }

    @ParameterizedTest
    @CsvSource({"held, -Dlamprey.carriers=1 -Dlamprey.extraCarriers=0", "held, -Dlamprey.simulate=1", "deadlock, -Dlamprey.carriers=1", "computes, -Dlamprey.carriers=1",
        "computes, -Dlamprey.simulate=1", "full, -Xmx32m"})
    void it_can_be_ended(String how, String options) throws Exception {
        Launched program = new Launched(folder, "Waiters", "Waiters$Foreign");
        Path out = folder.resolve("out");
        Process p = program.start(out, options, how);
        try {
            while (p.isAlive() && !Bytes.text(out).startsWith("ready\n")) {
                Thread.sleep(20);
            }
            // A signal may be lost to a heap that is just being filled.
            for (int i = 0; i < 100 && p.isAlive(); i++) {
                p.destroy();
                p.waitFor(1, TimeUnit.SECONDS);
            }
            assertTrue(!p.isAlive(), () -> "does not end");
            // Where no memory is left, the JVM may end without running its hooks.
            if (!how.equals("full")) {
                assertTrue(Bytes.text(out).contains("hook"), Bytes.text(out));
                assertEquals(143, p.exitValue());
            }
        } finally {
            p.destroyForcibly();
        }
    }
}
