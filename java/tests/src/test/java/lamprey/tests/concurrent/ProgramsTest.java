package lamprey.tests.concurrent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.Map;
import lamprey.tests.Rewritten;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A program that uses java.util.concurrent does the same when its threads are light. */
@Timeout(240)
class ProgramsTest {
    @Test
    @SuppressWarnings("unchecked")
    void same_on_light_threads() throws Exception {
        Map<String, String> plain = Programs.all();
        assertFalse(plain.toString().contains("failed"), plain.toString());
        Map<String, String> light = (Map<String, String>) Rewritten.packageOf(Programs.class).get(Programs.class).getMethod("all").invoke(null);
        assertEquals(plain, light);
    }
}
