package lamprey.tests.storm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.Method;
import lamprey.PicoRuntime;
import lamprey.tests.Rewritten;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Storms on one carrier and on several. */
@Timeout(240)
class StormsTest {
    private static final Class<?> STORMS = Rewritten.packageOf(Storms.class).get(Storms.class);

    private static Object storm(int carriers, String name, int a, int b) throws Exception {
        Method m = STORMS.getMethod("storm", String.class, int.class, int.class, Object[].class);
        Object[] result = new Object[1];
        try (PicoRuntime runtime = PicoRuntime.builder().carriers(carriers).build()) {
            runtime.run((Runnable) m.invoke(null, name, a, b, result));
        }
        if (result[0] instanceof Throwable) {
            throw new AssertionError(name, (Throwable) result[0]);
        }
        return result[0];
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void monitors(int carriers) throws Exception {
        assertEquals("true true 0", storm(carriers, "monitors", 30, 200));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void parking(int carriers) throws Exception {
        assertEquals("" + 20 * 2 * 300, storm(carriers, "parking", 20, 300));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void interrupts(int carriers) throws Exception {
        assertEquals(20 * 100 + " 0", storm(carriers, "interrupts", 20, 100));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void families(int carriers) throws Exception {
        // 1 + 4 + .. + 4^5 ends; every family but the last generation has one child that throws.
        assertEquals("" + (1365 + 341 * 1000), storm(carriers, "families", 5, 4));
    }
}
