package lamprey.tests.random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import lamprey.transform.Mode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random methods compute what they compute untransformed, whichever of their calls suspend. {@code -Dlamprey.random.methods=N} says how many,
 * {@code -Dlamprey.random.seed=S} where to begin: a failure prints the seed of its program.
 */
class RandomMethodsTest {
    private static final int METHODS = Integer.getInteger("lamprey.random.methods", 100_000);
    private static final long SEED = Long.getLong("lamprey.random.seed", 1);

    /** The generator alone: the same program twice, without any transformation. */
    @Test
    @Timeout(60)
    void generated_programs_are_valid_and_repeat_themselves() throws InterruptedException {
        Campaign c = Campaign.run(Weaver.NONE, 7_000_000, 600, 1);
        assertNull(c.failure(), c::failure);
    }

    @Test
    @Timeout(600)
    void random_methods_suspend_by_exceptions() throws InterruptedException {
        Campaign c = Campaign.run(new RealWeaver(Mode.EXCEPTIONS), SEED, METHODS, 2);
        System.out.println("random methods: " + c);
        assertNull(c.failure(), c::failure);
        assertEverythingOccurred(c);
    }

    private static void assertEverythingOccurred(Campaign c) {
        List<String> missing = new ArrayList<>();
        for (Feature f : Feature.values()) {
            if (c.features[f.ordinal()] == 0) {
                missing.add(f + " was never written");
            }
        }
        for (Where w : Where.values()) {
            if (c.suspendedIn[w.ordinal()] == 0) {
                missing.add("no suspension in " + w);
            }
        }
        assertEquals(List.of(), missing);
        assertTrue(c.methods >= METHODS, c::toString);
    }
}
