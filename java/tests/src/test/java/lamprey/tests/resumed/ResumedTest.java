package lamprey.tests.resumed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import lamprey.instrument.PinnedError;
import lamprey.tests.Rewritten;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Traces and reflection of transformed code, compared with the plain form of the same classes. */
@Timeout(240)
class ResumedTest {
    private static final Rewritten REWRITTEN = Rewritten.packageOf(Levels.class);

    @SuppressWarnings("unchecked")
    private static List<String> report(int depth, int before, int atBottom) throws Exception {
        return (List<String>) REWRITTEN.get(Levels.class).getMethod("report", int.class, int.class, int.class).invoke(null, depth, before, atBottom);
    }

    private static void same(int depth, int before, int atBottom) throws Exception {
        String what = "depth " + depth + ", suspended " + before + " times at each level, " + atBottom + " at the bottom";
        assertEquals(String.join("\n", Levels.report(depth, before, atBottom)), String.join("\n", report(depth, before, atBottom)), what);
    }

    @Test
    void traces_without_a_suspension() throws Exception {
        same(5, 0, 0);
    }

    @Test
    void traces_after_resumptions_at_each_depth() throws Exception {
        for (int depth = 0; depth <= 9; depth++) {
            for (int atBottom = 0; atBottom <= 2; atBottom++) {
                same(depth, 0, atBottom);
            }
        }
    }

    @Test
    void traces_after_resumptions_at_each_level() throws Exception {
        for (int depth = 0; depth <= 9; depth++) {
            for (int before = 1; before <= 2; before++) {
                same(depth, before, 0);
                same(depth, before, 1);
            }
        }
    }

    @Test
    @SuppressWarnings("unchecked")
    void reflective_calls() throws Exception {
        List<String> plain = Reflective.log();
        assertTrue(plain.size() > 300, plain.toString());
        List<String> light = (List<String>) REWRITTEN.get(Reflective.class).getMethod("log").invoke(null);
        assertEquals(String.join("\n", plain), String.join("\n", light));
    }

    @Test
    @SuppressWarnings("unchecked")
    void lines_behind_a_wait_in_the_same_line() throws Exception {
        List<String> plain = Lines.report();
        assertEquals(15, plain.size());
        assertEquals(String.join("\n", plain), String.join("\n", (List<String>) REWRITTEN.get(Lines.class).getMethod("report").invoke(null)));
    }

    @Test
    void handler_of_a_proxy_cannot_suspend() throws Exception {
        Throwable thrown = (Throwable) REWRITTEN.get(Reflective.class).getMethod("proxy").invoke(null);
        PinnedError e = assertInstanceOf(PinnedError.class, thrown);
        assertTrue(e.getMessage().contains("Reflective"), e.getMessage());
    }
}
