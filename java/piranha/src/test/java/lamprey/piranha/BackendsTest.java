package lamprey.piranha;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.reflect.Modifier;
import java.util.Arrays;
import lamprey.Backend;
import lamprey.PicoRuntime;
import lamprey.Schedulers;
import lamprey.piranha.site.Site;
import lamprey.piranha.site.SiteOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The same crawl on whatever threads can be. */
@Timeout(240)
class BackendsTest {
    private static void crawls(PicoRuntime runtime, String... more) throws Exception {
        SiteOptions o = new SiteOptions();
        o.pages = 300;
        o.bytes = 3000;
        o.delayMillis = 1;
        try (Site site = new Site(o)) {
            String[] args = Arrays.copyOf(more, more.length + 1);
            args[more.length] = site.address();
            Session session = new Session(Options.parse(args));
            runtime.run(session);
            assertEquals(0, session.exitCode());
            assertEquals(300 + 1, site.requests(), "the pages and robots.txt");
        } finally {
            runtime.close();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void coroutines(int carriers) throws Exception {
        crawls(PicoRuntime.builder().carriers(carriers).build(), "--per-host", "100");
    }

    @Test
    void coroutines_last_come_first_served() throws Exception {
        crawls(PicoRuntime.builder().carriers(1).scheduler(Schedulers.lifo()).build(), "--policy", "lifo");
    }

    @Test
    void coroutines_in_random_order() throws Exception {
        crawls(PicoRuntime.builder().carriers(2).scheduler(Schedulers.random(7)).build(), "--policy", "random");
    }

    @Test
    void pool_of_coroutines() throws Exception {
        crawls(PicoRuntime.builder().carriers(2).build(), "--program", "pool", "--threads", "20", "--per-host", "20");
    }

    @Test
    void kernel_threads() throws Exception {
        crawls(PicoRuntime.builder().backend(Backend.PLATFORM).build());
    }

    @Test
    void virtual_threads_where_there_are_some() throws Exception {
        boolean are = Arrays.stream(Thread.class.getMethods()).anyMatch(m -> m.getName().equals("ofVirtual"));
        if (!are) {
            assertThrows(UnsupportedOperationException.class, () -> PicoRuntime.builder().backend(Backend.VIRTUAL));
        }
        assumeTrue(are);
        crawls(PicoRuntime.builder().backend(Backend.VIRTUAL).build());
    }

    /** Else the tests above would show nothing about coroutines. */
    @Test
    void the_program_is_transformed() {
        assertEquals(1, Arrays.stream(Piranha.class.getDeclaredMethods())
            .filter(m -> m.getName().equals("run$pico") && Modifier.isStatic(m.getModifiers())).count());
    }
}
