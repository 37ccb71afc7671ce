package lamprey.piranha;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URL;
import org.junit.jupiter.api.Test;

class UrlsTest {
    private static String normal(String text) {
        return String.valueOf(Urls.normal(text));
    }

    private static String link(String reference) {
        return String.valueOf(Urls.link(Urls.start("http://h/a/b?q"), reference));
    }

    @Test
    void one_form_for_the_same_address() {
        assertEquals("http://example.org/", normal("HTTP://Example.ORG"));
        assertEquals("http://example.org/", normal("http://example.org:80/"));
        assertEquals("https://example.org/", normal("https://example.org:443/#top"));
        assertEquals("http://example.org:443/", normal("http://example.org:443/"));
        assertEquals("http://h/a/c", normal("http://h/a/./b/../c"));
        assertEquals("http://h/", normal("http://h/../.."));
        assertEquals("http://h/a/", normal("http://h/a/b/.."));
        assertEquals("http://h/a/", normal("http://h/a/."));
        assertEquals("http://h/~a%2F", normal("http://h/%7ea%2f"));
        assertEquals("http://h/p?x=1&y=~", normal("http://h/p?x=1&y=%7E"));
        assertEquals("http://h/p%20q%C3%A4", normal("http://h/p qä"));
        assertEquals("http://h/100%25", normal("http://h/100%"));
        assertEquals("http://h/a//b", normal("http://h/a//b"));
    }

    @Test
    void normal_form_is_its_own_normal_form() {
        for (String s : new String[] {"http://h/%25", "http://h/a/b/../%7e?%3f", "http://[::1]:81/x", "http://h/ä ?ü"}) {
            assertEquals(normal(s), normal(normal(s)), s);
        }
    }

    @Test
    void links_are_resolved_against_the_page() {
        assertEquals("http://h/a/c", link("c"));
        assertEquals("http://h/c", link("/c"));
        assertEquals("http://h/c", link("../c"));
        assertEquals("http://h/c", link("../../../c"));
        assertEquals("http://other/c", link("//other/c"));
        assertEquals("http://h/a/b?r", link(" ?r "));
        assertEquals("http://h/a/b?q", link("#x"));
        assertEquals("http://h/a/b?q", link(""));
    }

    @Test
    void what_cannot_be_crawled_is_no_link() {
        assertNull(Urls.link(Urls.start("http://h/"), "mailto:a@b"));
        assertNull(Urls.link(Urls.start("http://h/"), "javascript:void(0)"));
        assertNull(Urls.normal("ftp://h/"));
        assertNull(Urls.normal("http:///x"));
        assertNull(Urls.normal("http://h:port/"));
        assertNull(Urls.normal("nothing"));
    }

    @Test
    void a_bad_start_is_named() {
        assertTrue(assertThrows(IllegalArgumentException.class, () -> Urls.start("example.org")).getMessage().contains("example.org"));
    }

    @Test
    void a_port_that_is_none_is_named() {
        for (String url : new String[] {"http://h:99999/", "http://h:0", "http://[::1]:65536/x", "http://h:99999999999/"}) {
            String message = assertThrows(IllegalArgumentException.class, () -> Urls.start(url)).getMessage();
            assertTrue(message.contains("port") && message.contains(url), message);
        }
        assertNull(Urls.link(Urls.start("http://h/"), "http://h:99999/"));
        assertEquals("http://h:65535/", normal("http://h:65535/"));
    }

    @Test
    void robots_txt_is_at_the_root_of_the_server() {
        URL url = Urls.start("http://h:81/a/b?q");
        assertEquals("http://h:81/robots.txt", Urls.robotsTxt(url).toString());
    }
}
