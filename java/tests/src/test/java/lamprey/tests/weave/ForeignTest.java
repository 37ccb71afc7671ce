package lamprey.tests.weave;

import static org.junit.jupiter.api.Assertions.assertEquals;

import lamprey.transform.Mode;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A suspension through a method of the JDK is an error at that call, and the thread goes on. */
@Timeout(60)
class ForeignTest {
    private static final String PINNED = "lamprey.instrument.PinnedError\n";
    private static final String END = "load a\ngot a!\nstill here\nx\nx\nx\nfinally 2\n= {a=a!, b=1}\n";

    private static String run(Mode mode, int suspended) throws Exception {
        Isolated loader = new Isolated(mode);
        Runnable r = loader.sample("Foreign");
        loader.driver().apply(r, n -> n == suspended);
        return r.toString();
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void nothing_is_lost_unseen(Mode mode) throws Exception {
        assertEquals(END, run(mode, -1));
        assertEquals("load a\n" + PINNED + END.substring(END.indexOf("still")).replace("a=a!, ", ""), run(mode, 0));
        assertEquals(END, run(mode, 1));
        assertEquals(END.replace("x\nx\nx\n", "x\n" + PINNED), run(mode, 3));
        String last = run(mode, 5);
        assertEquals(END.substring(0, END.indexOf("= ")) + "! lamprey.instrument.PinnedError: cannot suspend: ", last.substring(0, last.indexOf("lamprey.tests")));
        assertEquals(END, run(mode, 6));
    }
}
