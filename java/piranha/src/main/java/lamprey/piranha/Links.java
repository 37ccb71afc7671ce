package lamprey.piranha;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URL;
import java.nio.charset.Charset;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Element;

/** The links of an HTML page. */
final class Links {
    private Links() {}

    /** In the order of the page, each once, normalised. Links marked {@code nofollow}, and all of a page that says so, are left out. */
    static Set<String> of(URL page, Response response) throws IOException {
        Document html = Jsoup.parse(new ByteArrayInputStream(response.body), charset(response.contentType), page.toString());
        Set<String> links = new LinkedHashSet<>();
        if (!html.select("meta[name=robots][content*=nofollow]").isEmpty()) {
            return links;
        }
        for (Element e : html.select("a[href], area[href], frame[src], iframe[src]")) {
            if (("," + e.attr("rel").replace(' ', ',') + ",").contains(",nofollow,")) {
                continue;
            }
            // Not Element.absUrl: that goes by java.net.URL, which is not RFC 3986.
            URL base = Urls.normal(e.baseUri());
            URL link = Urls.link(base == null ? page : base, e.attr(e.hasAttr("href") ? "href" : "src"));
            if (link != null) {
                links.add(link.toString());
            }
        }
        return links;
    }

    /** Null if the server does not say: the page may. */
    private static String charset(String contentType) {
        int at = contentType.toLowerCase(Locale.ROOT).indexOf("charset=");
        if (at < 0) {
            return null;
        }
        String name = contentType.substring(at + "charset=".length()).split("[;\\s]", 2)[0].replace("\"", "").replace("'", "");
        try {
            return Charset.isSupported(name) ? name : null;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
