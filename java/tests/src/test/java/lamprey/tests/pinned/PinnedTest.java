package lamprey.tests.pinned;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import lamprey.tests.Rewritten;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A thread that cannot be suspended gets a clear error, and nothing else is lost. Callbacks of the JDK that can suspend do so completely. */
class PinnedTest {
    private static final Class<?> CASES = Rewritten.packageOf(Cases.class).get(Cases.class);

    static List<String> names() {
        return Cases.names();
    }

    @ParameterizedTest
    @MethodSource("names")
    @Timeout(240)
    void blocking_call_is_refused_or_all_of_them_end(String name) throws Exception {
        String message = (String) CASES.getMethod("run", String.class).invoke(null, name);
        if (!message.equals("suspended")) {
            assertSaysWhere(message);
        }
    }

    @Test
    @Timeout(240)
    void thread_ends_with_the_error_if_nothing_blocks_any_more() throws Exception {
        assertSaysWhere((String) CASES.getMethod("uncaught").invoke(null));
    }

    @Test
    @Timeout(240)
    void names_the_call_of_the_jdk_and_its_line() throws Exception {
        String sort = (String) CASES.getMethod("run", String.class).invoke(null, "comparator_in_sort");
        assertTrue(sort.matches("(?s).*Cases\\.sort \\(Cases\\.java; by [^)]*sort in line \\d+.*"), sort);
        String stream = (String) CASES.getMethod("run", String.class).invoke(null, "stream");
        assertTrue(stream.matches("(?s).*by one of .*Stream\\.forEach in line \\d+\\).*"), stream);
    }

    private static void assertSaysWhere(String message) {
        assertTrue(message.startsWith("cannot suspend: ") && message.contains("not transformed"), message);
    }
}
