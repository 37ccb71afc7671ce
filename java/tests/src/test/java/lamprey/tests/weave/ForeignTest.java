package lamprey.tests.weave;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.function.IntPredicate;
import lamprey.transform.Mode;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A suspension through a method of the JDK is an error at that call, and the thread goes on. */
@Timeout(240)
class ForeignTest {
    private static final String PINNED = "lamprey.instrument.PinnedError\n";
    private static final String END = "load a\ngot a!\nstill here\nx\nx\nx\ny\nfinally 2\n= {a=a!, b=1} 4\n";

    private static String run(Mode mode, int suspended) throws Exception {
        return run(mode, n -> n == suspended);
    }

    private static String run(Mode mode, IntPredicate suspends) throws Exception {
        Isolated loader = new Isolated(mode);
        Runnable r = loader.sample("Foreign");
        loader.driver().apply(r, suspends);
        return r.toString();
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void nothing_is_lost_unseen(Mode mode) throws Exception {
        assertEquals(END, run(mode, -1));
        assertEquals("load a\n" + PINNED + END.substring(END.indexOf("still")).replace("a=a!, ", ""), run(mode, 0));
        assertEquals(END, run(mode, 1));
        assertEquals(END.replace("x\nx\nx\n", "x\n" + PINNED), run(mode, 3));
        assertEquals(END.replace("y\n", PINNED), run(mode, 5));
        assertEquals(END, run(mode, 6));
        String last = run(mode, 7);
        assertEquals(END.substring(0, END.indexOf("= ")) + "! lamprey.instrument.PinnedError: cannot suspend: ", last.substring(0, last.indexOf("lamprey.tests")));
        assertEquals(END, run(mode, 8));
        assertEquals(END.replace("y\n", PINNED), run(mode, n -> n == 1 || n == 5 || n == 6));
    }
}
