package lamprey.tests.random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random methods compute what they compute untransformed, whichever of their calls suspend. {@code -Dlamprey.random.methods=N} says how many,
 * {@code -Dlamprey.random.seed=S} where to begin: a failure prints the seed of its program.
 */
class RandomMethodsTest {
    private static final int METHODS = Integer.getInteger("lamprey.random.methods", 50_000);
    private static final long SEED = Long.getLong("lamprey.random.seed", 1);

    /** The generator alone, without any transformation. */
    @Test
    @Timeout(240)
    void generated_programs_are_valid() throws InterruptedException {
        Campaign c = Campaign.run(Weaver.NONE, 7_000_000, 600, 1, 0);
        assertNull(c.failure(), c::failure);
    }

    @Test
    @Timeout(600)
    void random_methods_suspend_by_exceptions() throws InterruptedException {
        assertEquals("", Campaigns.run("EXCEPTIONS", "" + SEED, "" + METHODS));
    }

    @Test
    @Timeout(600)
    void random_methods_suspend_by_flags() throws Exception {
        assertEquals("", new Isolated().call("lamprey.tests.random.Campaigns", "run", "FLAGS", "" + (SEED + 1_000_000), "" + METHODS));
    }
}
