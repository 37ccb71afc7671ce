package lamprey.tests.stages;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.LinkedHashMap;
import java.util.Map;
import lamprey.tests.Rewritten;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A function that the JDK's stages call and that blocks fails its stage, with an error that says so; the thread goes on as if nothing else had happened. */
@Timeout(240)
class StagesTest {
    @Test
    void a_function_that_blocks_fails_its_stage_at_once() throws Exception {
        Map<String, String> expected = new LinkedHashMap<>();
        for (String pinned : new String[] {"apply", "apply by reference", "accept", "run", "combine", "compose", "handle", "when", "stage"}) {
            expected.put(pinned, "PinnedError");
        }
        expected.put("recovered", "value -1");
        expected.put("quick", "value 6");
        expected.put("async", "value 1");
        expected.put("async of a stage in a light pool", "PinnedError");
        expected.put("pool afterwards", "value 5");
        expected.put("afterwards", "value 3");
        assertEquals(expected, Rewritten.packageOf(Blocking.class).get(Blocking.class).getMethod("all").invoke(null));
    }
}
