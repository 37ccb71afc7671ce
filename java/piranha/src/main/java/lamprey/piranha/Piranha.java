package lamprey.piranha;

import java.net.URL;
import java.util.Enumeration;

/**
 * The program of the paper: a thread reads the page of one URL, and starts a thread for each link of the page.
 *
 * <p>What the paper leaves out (each URL once, robots.txt, limits) is in {@link Crawl#getLinks}, which decides what a link of the page is.
 */
public class Piranha implements Runnable {
    private final Crawl crawl;
    private final URL url;
    private final int depth;

    /** Reads {@code url}, which is {@code depth} links away from a start page. */
    public Piranha(Crawl crawl, URL url, int depth) {
        this.crawl = crawl;
        this.url = url;
        this.depth = depth;
    }

    /** Reads the page and starts the threads of its links. Blocks the calling thread for as long as that takes. */
    @Override
    public void run() {
        try {
            for (Enumeration<URL> e = crawl.getLinks(url, depth); e.hasMoreElements(); ) {
                URL u = e.nextElement();
                Piranha p = new Piranha(crawl, u, depth + 1);
                new Thread(p).start();
            }
        } catch (Throwable t) {
            // The links that have no thread are waited for: without this the crawl would not end.
            crawl.fail(t);
        }
    }
}
