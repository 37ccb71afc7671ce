package lamprey.tests.weave;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import lamprey.transform.Mode;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each sample computes the same as the plain class, whichever of its calls suspend. */
@Timeout(240)
class SamplesTest {
    @ParameterizedTest
    @CsvSource({
        "Plain$Operands", "Plain$Fib", "Plain$Loops", "Plain$Exceptions", "Plain$Nulls", "Plain$Wide",
        "Objects$News", "Objects$Constructors", "Objects$Virtual"})
    void computes_the_same_whatever_suspends(String name) throws Exception {
        check(name, () -> Isolated::new);
    }

    /** @param loaders what makes a class loader for a mode, null being the mode of plain classes */
    static void check(String name, Supplier<Function<Mode, Isolated>> loaders) throws Exception {
        Function<Mode, Isolated> loader = loaders.get();
        String sample = name.indexOf(' ') >= 0 ? "Handwritten" : name;
        Isolated plain = loader.apply(null);
        Runnable p = plain.sample(sample);
        int calls = plain.driver().apply(p, n -> false);
        assertTrue(calls > 0, name);
        for (Mode mode : Mode.values()) {
            check(name + " " + mode, loader.apply(mode), sample, p.toString(), calls);
        }
    }

    private static void check(String what, Isolated loader, String name, String expected, int calls) throws Exception {
        BiFunction<Runnable, IntPredicate, Integer> driver = loader.driver();
        Random random = new Random(1);
        for (int k = -2; k < calls + 50; k++) {
            int one = k;
            boolean[] some = new boolean[calls];
            for (int i = 0; i < calls; i++) {
                some[i] = random.nextBoolean();
            }
            IntPredicate suspends = k == -2 ? n -> false : k == -1 ? n -> true : k < calls ? n -> n == one : n -> some[n];
            Runnable r = loader.sample(name);
            int made = driver.apply(r, suspends);
            assertEquals(expected, r.toString(), what + ", suspended at " + k);
            assertEquals(calls, made, what);
        }
    }
}
