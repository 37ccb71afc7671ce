package lamprey.tests.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import lamprey.instrument.CarrierThread;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** A library that knows nothing of this one is transformed wholly, and does what it did. */
class LibraryTest {
    /** Fewer would mean that its tests were not found. */
    private static final int OWN_TESTS = 500;

    /** Runs the library's own tests; says of each how it ended. */
    private static Map<String, String> suite(Library loader) throws Exception {
        List<DiscoverySelector> classes = new ArrayList<>();
        for (String name : Library.tests()) {
            classes.add(selectClass(loader.loadClass(name)));
        }
        Map<String, String> results = new TreeMap<>();
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        Thread.currentThread().setContextClassLoader(loader);
        try {
            LauncherFactory.create().execute(LauncherDiscoveryRequestBuilder.request().selectors(classes).build(), new TestExecutionListener() {
                @Override
                public void executionFinished(TestIdentifier id, TestExecutionResult result) {
                    if (id.isTest()) {
                        String thrown = result.getThrowable().map(t -> " " + t.getClass().getName()).orElse("");
                        results.put(id.getUniqueId(), result.getStatus() + thrown);
                        result.getThrowable().filter(t -> loader.done != null && t instanceof LinkageError).ifPresent(Throwable::printStackTrace);
                    }
                }
            });
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
        return results;
    }

    @Test
    @Timeout(300)
    void own_tests_of_the_library_end_as_before() throws Exception {
        Map<String, String> plain = suite(Library.plain());
        Library library = Library.transformed();
        Map<String, String> light = suite(library);
        long passed = plain.values().stream().filter("SUCCESSFUL"::equals).count();
        System.out.println("commons-csv and commons-io transformed: " + library.done + "; " + passed + " own tests passed of " + plain.size());
        assertTrue(passed >= OWN_TESTS, "only " + passed + " tests of the library pass untransformed");
        Map<String, String> differ = new TreeMap<>();
        plain.forEach((test, result) -> {
            if (!result.equals(light.get(test))) {
                differ.put(test, result + " before, then " + light.get(test));
            }
        });
        assertEquals(Collections.emptyMap(), differ);
    }

    @Test
    @Timeout(240)
    void parser_and_printer_suspend_at_every_read_and_write() throws Exception {
        Library plain = Library.plain();
        Library light = Library.transformed();
        Random random = new Random(18);
        int pauses = 0;
        for (int i = 0; i < 40; i++) {
            String text = text(random);
            String[] expected = results(plain, text, false);
            String[] got = results(light, text, true);
            for (int k = 0; k < expected.length; k += 2) {
                assertEquals(expected[k], got[k], text);
                pauses += Integer.parseInt(got[k + 1]);
            }
        }
        // A text that is no CSV ends early.
        assertTrue(pauses > 1000, "suspended only " + pauses + " times");
    }

    private static String text(Random random) {
        String[] parts = {"a", "bc", ",", ",", "\n", "\r\n", "\"q, \"\"x\"\"\"", "\t", "'", " ", "\u00e4", "\\N", "#"};
        StringBuilder text = new StringBuilder();
        for (int n = random.nextInt(60); n >= 0; n--) {
            text.append(parts[random.nextInt(parts.length)]);
        }
        return text.toString();
    }

    private static String[] results(Library loader, String text, boolean coroutine) throws Exception {
        Method m = loader.loadClass(Program.class.getName()).getDeclaredMethod("results", String.class, boolean.class);
        m.setAccessible(true);
        Object[] out = {null};
        CarrierThread carrier = new CarrierThread(() -> {
            try {
                out[0] = m.invoke(null, text, coroutine);
            } catch (ReflectiveOperationException e) {
                e.printStackTrace();
            }
        }, "csv");
        carrier.start();
        carrier.join();
        assertTrue(out[0] != null, "failed for " + text);
        return (String[]) out[0];
    }
}
