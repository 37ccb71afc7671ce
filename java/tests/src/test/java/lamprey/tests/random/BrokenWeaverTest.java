package lamprey.tests.random;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import lamprey.transform.Mode;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The random methods find a weaver that makes mistakes. */
class BrokenWeaverTest {
    @ParameterizedTest
    @EnumSource
    @Timeout(240)
    void mistake_is_found(BrokenWeaver.Mistake mistake) throws InterruptedException {
        Campaign c = Campaign.run(new BrokenWeaver(new RealWeaver(Mode.EXCEPTIONS), mistake), 1, 6000, 1, 0);
        assertNotNull(c.failure());
        assertTrue(c.failure().contains("suspends"), c.failure());
    }
}
