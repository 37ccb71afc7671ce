package lamprey.tests.continued;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import lamprey.tests.Rewritten;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Transformed continuations that hold locks, or block the thread that runs them. */
@Timeout(240)
class StepsTest {
    private static final Class<?> STEPS = Rewritten.packageOf(Steps.class).get(Steps.class);

    @Test
    @SuppressWarnings("unchecked")
    void locks_are_not_written() throws Exception {
        List<String> log = (List<String>) STEPS.getMethod("locks").invoke(null);
        assertEquals(4, log.size(), log.toString());
        for (int i : new int[] {0, 2, 3}) {
            assertTrue(log.get(i).contains("holds the lock of"), log.toString());
            assertTrue(log.get(i).contains("Steps"), log.toString());
        }
        assertEquals("behind block: behind block written", log.get(1));
    }

    @Test
    @SuppressWarnings("unchecked")
    void blocking_inside_blocks_the_thread() throws Exception {
        List<Integer> sums = (List<Integer>) STEPS.getMethod("inThreads", int.class, int.class).invoke(null, 50, 20);
        assertEquals(Collections.nCopies(50, 19 * 20 / 2), sums);
    }

    @Test
    @SuppressWarnings("unchecked")
    void continuation_in_a_continuation() throws Exception {
        List<String> log = (List<String>) STEPS.getMethod("nested").invoke(null);
        assertEquals(Arrays.asList("outer got inner a", "outer got inner end b", "outer end ctrue"), log);
    }

    @Test
    @SuppressWarnings("unchecked")
    void callback_of_the_jdk_in_the_way() throws Exception {
        List<String> log = (List<String>) STEPS.getMethod("pinned").invoke(null);
        assertEquals(Arrays.asList("PinnedError", "after", "end!"), log);
    }

    @Test
    @SuppressWarnings("unchecked")
    void written_at_every_suspension() throws Exception {
        List<String> without = (List<String>) STEPS.getMethod("everything", boolean.class).invoke(null, false);
        assertEquals(Arrays.asList("in super", "in constructor", "in reflection", "in try", "in finally", "2v0v1v22v0v1v2v32v4caughtv51.01true2"),
            without);
        assertEquals(without, STEPS.getMethod("everything", boolean.class).invoke(null, true));
    }
}
