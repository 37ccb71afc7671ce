package lamprey.piranha.robots;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RobotsTest {
    private static Robots of(String... lines) {
        return Robots.parse(String.join("\n", lines), "Piranha/0.1 (+http://example.org)");
    }

    private static boolean allows(String path, String... rules) {
        return of("User-agent: *\n" + String.join("\n", rules)).allows(path);
    }

    @Test
    void no_rule_allows() {
        assertTrue(of("").allows("/"));
        assertTrue(allows("/x", "Disallow:"));
        assertTrue(allows("/x", "Disallow: /y"));
        assertTrue(of("Disallow: /").allows("/x"), "rules before any user-agent line count for nobody");
    }

    @Test
    void longest_pattern_decides() {
        assertFalse(allows("/a/b", "Disallow: /a"));
        assertTrue(allows("/a/b", "Disallow: /a", "Allow: /a/b"));
        assertTrue(allows("/a/b", "Allow: /a/b", "Disallow: /a"));
        assertFalse(allows("/a/b.gif", "Allow: /a/", "Disallow: /*.gif"));
        assertTrue(allows("/page", "Allow: /page", "Disallow: /page"), "allow wins when both are as long");
    }

    @Test
    void star_and_dollar() {
        assertFalse(allows("/x/y.php?z", "Disallow: /*.php"));
        assertTrue(allows("/x/y.php?z", "Disallow: /*.php$"));
        assertFalse(allows("/x/y.php", "Disallow: /*.php$"));
        assertFalse(allows("/a/x/b/y/c", "Disallow: /a*b*c$"));
        assertTrue(allows("/a/x/b/y/cd", "Disallow: /a*b*c$"));
        assertTrue(allows("/fish", "Disallow: /fish*.x"));
        assertFalse(allows("/ab", "Disallow: *b"));
        assertTrue(allows("/a", "Disallow: /$"));
        assertFalse(allows("/", "Disallow: /$"));
        assertFalse(allows("/a$b", "Disallow: /a$b"));
        assertFalse(allows("/a*b", "Disallow: /a%2Ab"));
        assertTrue(allows("/acb", "Disallow: /a%2Ab"));
    }

    @Test
    void encodings_of_the_same_path_are_the_same() {
        assertFalse(allows("/foo/bar?baz=http%3A%2F%2Ffoo", "Disallow: /foo/bar?baz=http%3a%2f%2ffoo"));
        assertFalse(allows("/foo/%E3%83%84", "Disallow: /foo/ツ"));
        assertFalse(allows("/~joe", "Disallow: /%7Ejoe"));
        assertTrue(allows("/a/b", "Disallow: /a%2Fb"));
        assertTrue(allows("/A", "Disallow: /a"));
    }

    @Test
    void the_named_group_counts_and_no_other() {
        String[] file = {"User-agent: *", "Disallow: /", "", "user-AGENT : piranha # us", "Disallow: /x", "User-agent: other", "Disallow: /y"};
        assertTrue(of(file).allows("/"));
        assertFalse(of(file).allows("/x"));
        assertTrue(of(file).allows("/y"));
        assertFalse(Robots.parse(String.join("\r\n", file), "Nobody/1").allows("/"));
    }

    @Test
    void groups_of_the_same_name_are_one() {
        Robots r = of("User-agent: piranha", "User-agent: x", "Disallow: /a", "User-agent: *", "Disallow: /", "User-agent: Piranha/2", "Disallow: /b");
        assertFalse(r.allows("/a"));
        assertFalse(r.allows("/b"));
        assertTrue(r.allows("/c"));
    }

    @Test
    void an_empty_named_group_allows_all() {
        assertTrue(of("User-agent: *", "Disallow: /", "User-agent: piranha").allows("/x"));
    }

    @Test
    void robots_txt_itself_is_always_allowed() {
        assertTrue(Robots.DISALLOW_ALL.allows("/robots.txt"));
        assertFalse(Robots.DISALLOW_ALL.allows("/"));
    }

    @Test
    void crawl_delay() {
        assertEquals(1500, of("User-agent: *", "Crawl-delay: 1.5").crawlDelayMillis());
        assertEquals(0, of("User-agent: *", "Crawl-delay: soon").crawlDelayMillis());
        assertEquals(0, of("User-agent: *", "Crawl-delay: NaN").crawlDelayMillis());
        assertFalse(of("User-agent: piranha", "Crawl-delay: 1", "User-agent: x", "Disallow: /").allows("/"), "one group");
    }

    @Test
    void rubbish_is_passed_over() {
        assertFalse(of("\ufeffUser-agent: *", "<html>", "::", "Sitemap: http://x/", "disallow /q", "Disallow: /x").allows("/x"));
    }

    @Test
    void a_malicious_pattern_is_not_slow() {
        StringBuilder pattern = new StringBuilder("Disallow: /");
        StringBuilder path = new StringBuilder("/");
        for (int i = 0; i < 2000; i++) {
            pattern.append("*a");
            path.append('a');
        }
        assertTimeoutPreemptively(Duration.ofSeconds(60), () -> assertTrue(allows(path.toString(), pattern + "*b")));
    }
}
