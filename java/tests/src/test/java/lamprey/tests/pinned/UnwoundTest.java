package lamprey.tests.pinned;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.List;
import lamprey.tests.Rewritten;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A blocking call that is refused throws, also to those methods that had been left to suspend the thread. */
@Timeout(240)
class UnwoundTest {
    private static final Class<?> PROGRAM = Rewritten.packageOf(Unwound.class).get(Unwound.class);
    private static final boolean FLAGS = System.getProperty("lamprey.tests.mode", "").equals("FLAGS");

    @SuppressWarnings("unchecked")
    private static List<String> run(String name) throws Exception {
        return (List<String>) PROGRAM.getMethod(name).invoke(null);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "locks_are_released | finally, holds false false, holds false, LR, end",
        "inner_method_catches_it_and_goes_on | caught, returned 10, outer, ended by PinnedError",
        "blocking_again_is_refused_again | finally, blocks 1, ended by PinnedError + PinnedError",
        "another_exception_is_added | ended by PinnedError + ArithmeticException",
        "each_finally_runs_once_and_the_innermost_first | f0, f1, f2, f3, f4, f5, ended by PinnedError",
        "continuation_that_a_thread_runs_gets_it_too | computation, runner, ended by PinnedError",
        "continuation_can_be_used_while_frames_are_unwound | handed 5, returned 6, ended by PinnedError",
        "each_finally_runs_once_after_a_resumption | f0, f1, f2, f3, ended by PinnedError"
    })
    void blocking_call_throws(String name, String expected) throws Exception {
        assertEquals(expected, String.join(", ", run(name)));
    }

    @Test
    void locks_are_released_if_nobody_notices() throws Exception {
        String log = String.join(", ", run("locks_are_released_if_nobody_notices"));
        assertTrue(log.contains("finally") && log.endsWith(", LR"), log);
    }

    @Test
    void stack_overflows_while_frames_are_saved() throws Exception {
        assertEquals(String.join(", ", Collections.nCopies(20, "true, end")), String.join(", ", run("stack_overflows_while_frames_are_saved")));
        assertEquals(String.join(", ", Collections.nCopies(20, "blocks 1, end")), String.join(", ", run("stack_overflows_and_nothing_catches_it")));
    }

    @Test
    void error_with_the_suspension_as_its_cause_can_be_written() throws Exception {
        assertEquals("end", String.join(", ", run("error_with_the_suspension_as_its_cause_can_be_written")));
    }

    @Test
    void traces_show_the_frames_that_had_been_saved() throws Exception {
        String inner = "made innerCall lambda outerCall lambda lambda";
        String expected = "sleep pause " + inner + "\n" + inner;
        assertEquals(expected + "\n" + expected + "\nend", String.join("\n", run("traces")).replaceAll("lambda\\$\\S+", "lambda"));
    }

    @Test
    void messages_say_what_is_known() throws Exception {
        List<String> log = run("messages");
        assertEquals(4, log.size(), log.toString());
        for (String message : log.subList(0, 3)) {
            assertTrue(message.startsWith("cannot suspend: ") && message.contains("not transformed"), message);
            assertTrue(message.contains("the thread: Thread-") && message.contains("it blocks in lamprey.PicoThread.sleep"), message);
            assertTrue(message.contains("frames saved so far: lamprey.tests.pinned.Unwound.pause:"), message);
        }
        assertTrue(FLAGS || log.get(1).contains("noticed as lamprey.PicoThread.sleep was called"), log.get(1));
        assertTrue(FLAGS || log.get(2).contains(IllegalStateException.class.getName()), log.get(2));
    }
}
