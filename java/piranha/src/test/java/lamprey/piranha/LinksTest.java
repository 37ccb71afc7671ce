package lamprey.piranha;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.ArrayList;
import java.util.Collections;
import org.junit.jupiter.api.Test;

class LinksTest {
    private static void links(String html, String... expected) throws Exception {
        byte[] body = html.getBytes(StandardCharsets.UTF_8);
        Response r = new Response(200, null, "text/html; charset=\"utf-8\"", body);
        assertEquals(Arrays.asList(expected), new ArrayList<>(Links.of(Urls.start("http://h/a/b"), r)));
    }

    @Test
    void each_link_once_in_order() throws Exception {
        links("<a href=x>1</a><A HREF='/y'>2</A><a href=\"x#z\">3</a><area href=q><iframe src=f>", "http://h/a/x", "http://h/y", "http://h/a/q", "http://h/a/f");
    }

    @Test
    void base_element_counts() throws Exception {
        links("<base href='http://o/p/'><a href=x>1</a>", "http://o/p/x");
    }

    @Test
    void broken_html_has_links() throws Exception {
        links("<p <a href=x><<a href='y", Collections.<String>emptyList().toArray(new String[0]));
        links("<table><a href=x>1<div></table></a><a href=y", "http://h/a/x");
    }

    @Test
    void nofollow() throws Exception {
        links("<a rel='x nofollow' href=x>1</a><a rel=next href=y>2</a>", "http://h/a/y");
        links("<meta name=robots content='noindex, nofollow'><a href=x>1</a>");
    }

    @Test
    void entities_and_other_characters() throws Exception {
        links("<a href='?a=1&amp;b=ä c'>1</a>", "http://h/a/b?a=1&b=%C3%A4%20c");
    }
}
