package lamprey.tests.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.lang.reflect.Constructor;
import lamprey.PicoRuntime;
import lamprey.PicoThread;
import lamprey.tests.Rewritten;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Plain blocking programs over sockets do the same on light threads as on the JDK's. */
@Timeout(240)
class NetProgramsTest {
    @ParameterizedTest
    @ValueSource(strings = {"chat", "files", "scan", "data", "objects", "failures"})
    void programs_do_the_same(String name) throws Exception {
        Scenarios plain = new Scenarios(name);
        plain.run();
        assertFalse(plain.toString().isEmpty() || plain.toString().contains("Exception"), plain.toString());
        Class<?> light = Rewritten.packageOf(Scenarios.class).get(Scenarios.class);
        assertNotEquals(Scenarios.class, light);
        Constructor<?> make = light.getDeclaredConstructor(String.class);
        make.setAccessible(true);
        for (int carriers = 1; carriers <= 2; carriers++) {
            Runnable scenario = (Runnable) make.newInstance(name);
            try (PicoRuntime r = PicoRuntime.builder().carriers(carriers).build()) {
                PicoThread t = new PicoThread(scenario);
                r.start(t);
                t.join();
                assertEquals(plain.toString(), scenario.toString());
            }
        }
    }
}
