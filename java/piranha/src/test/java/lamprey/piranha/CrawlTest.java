package lamprey.piranha;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lamprey.piranha.site.Site;
import lamprey.piranha.site.SiteOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Crawls of the test site, which is served by a kernel thread of its own. */
@Timeout(240)
class CrawlTest {
    private static SiteOptions site(int pages, boolean rough) {
        SiteOptions o = new SiteOptions();
        o.pages = pages;
        o.fanOut = 5;
        o.bytes = 2000;
        o.rough = rough;
        return o;
    }

    private static Statistics crawl(Site site, String... more) throws Exception {
        List<String> args = new ArrayList<>(Arrays.asList(more));
        args.add(site.address());
        return new Crawl(Options.parse(args.toArray(new String[0]))).run();
    }

    private static int exitCode(String... args) {
        Session session = new Session(Options.parse(args));
        session.run();
        return session.exitCode();
    }

    @Test
    void exit_code_says_whether_there_was_a_first_page() throws Exception {
        try (Site site = new Site(site(3, false))) {
            assertEquals(0, exitCode(site.address()));
            assertEquals(1, exitCode(site.address().replace("127.0.0.1", "no.such.host.invalid").replace("localhost", "no.such.host.invalid")));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--program threads", "--program pool", "--policy lifo", "--policy random"})
    void every_page_once(String option) throws Exception {
        try (Site site = new Site(site(200, false))) {
            Statistics s = crawl(site, (option + " --threads 8").split(" "));
            // Page 0 is also the start page, but by no link.
            assertEquals(200, s.pages());
            assertEquals(200 * 2000, s.bytes());
            assertEquals(200, s.outcome("status 200"));
            assertEquals(0, s.failures());
            assertEquals(201, site.requests(), "the pages and robots.txt");
        }
    }

    @Test
    void rough_site_is_crawled_to_its_end() throws Exception {
        try (Site site = new Site(site(70, true))) {
            Statistics s = crawl(site, "--timeout", "15000", "--threads", "50", "--per-host", "50");
            assertTrue(s.disallowed() >= 70, s.toString());
            assertTrue(s.outcome("status 404") == 10 && s.outcome("status 500") == 10, s.toString());
            assertEquals(10, s.outcome("status 302"), s.toString());
            assertEquals(10, s.outcome("status 301"), s.toString());
            // Pages 7 and 57 have a link that is never answered, and every seventh one whose answer is cut.
            assertTrue(s.failures() >= 2, s.toString());
            assertTrue(s.outcome("SocketTimeoutException") >= 2, s.toString());
        }
    }

    @Test
    void limits_hold() throws Exception {
        try (Site site = new Site(site(500, false))) {
            assertEquals(50, crawl(site, "--pages", "50").pages());
            assertEquals(1 + 5, crawl(site, "--depth", "1").pages());
            assertEquals(1, crawl(site, "--no-links").pages());
        }
    }

    @Test
    void thousands_of_threads_wait_for_their_turn() throws Exception {
        SiteOptions wide = site(3000, false);
        wide.fanOut = 3000;
        try (Site site = new Site(wide)) {
            Statistics s = crawl(site, "--pages", "3000", "--threads", "20", "--per-host", "20");
            assertEquals(3000, s.pages());
            assertTrue(s.mostLive() > 2000, "threads of the first page's links: " + s.mostLive());
        }
    }

    @Test
    void one_connection_at_a_time_if_asked() throws Exception {
        try (Site site = new Site(site(30, false))) {
            assertEquals(30, crawl(site, "--per-host", "1").pages());
        }
    }

    @Test
    void requests_to_a_host_keep_their_distance() throws Exception {
        try (Site site = new Site(site(10, false))) {
            Statistics s = crawl(site, "--delay", "50");
            assertEquals(10, s.pages());
            assertTrue(s.seconds() >= 0.45, "nine times 50 ms: " + s.seconds());
        }
    }

    @Test
    void server_that_is_not_there_is_a_failure() throws Exception {
        String gone;
        try (Site site = new Site(site(1, false))) {
            gone = site.address();
        }
        Statistics s = new Crawl(Options.parse(gone)).run();
        assertEquals(1, s.failures());
        assertEquals(0, s.disallowed());
        assertEquals(1, s.outcome("ConnectException"));
        assertEquals(1, new Crawl(Options.parse("http://no.such.host.invalid/")).run().outcome("UnknownHostException"));
        assertEquals(1, exitCode(gone));
        assertEquals(1, new Crawl(Options.parse("--no-robots", gone)).run().outcome("ConnectException"));
    }
}
