package lamprey.tests.puzzles;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import lamprey.tests.Rewritten;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Transformed puzzles see on light threads what plain ones see on kernel threads. */
@Timeout(240)
class PuzzlesTest {
    @Test
    @SuppressWarnings("unchecked")
    void same_on_light_threads() throws Exception {
        Map<String, String> plain = Puzzles.all();
        assertTrue(plain.size() > 25, plain.keySet().toString());
        Map<String, String> light = (Map<String, String>) Rewritten.packageOf(Puzzles.class).get(Puzzles.class).getMethod("all").invoke(null);
        StringBuilder expected = new StringBuilder();
        StringBuilder seen = new StringBuilder();
        plain.forEach((name, result) -> expected.append(name).append(": ").append(result).append('\n'));
        light.forEach((name, result) -> seen.append(name).append(": ").append(result).append('\n'));
        assertEquals(expected.toString(), seen.toString());
    }
}
