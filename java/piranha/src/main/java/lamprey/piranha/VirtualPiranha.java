package lamprey.piranha;

import java.net.URL;
import java.util.Enumeration;

/** {@link Piranha} with the JDK's virtual threads, found by reflection as they need JDK 21. Not transformed. */
final class VirtualPiranha implements Runnable {
    private final Crawl crawl;
    private final URL url;
    private final int depth;

    VirtualPiranha(Crawl crawl, URL url, int depth) {
        this.crawl = crawl;
        this.url = url;
        this.depth = depth;
    }

    void start() {
        try {
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, this);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("no virtual threads on JDK " + System.getProperty("java.version"), e);
        }
    }

    @Override
    public void run() {
        try {
            for (Enumeration<URL> e = crawl.getLinks(url, depth); e.hasMoreElements(); ) {
                new VirtualPiranha(crawl, e.nextElement(), depth + 1).start();
            }
        } catch (Throwable t) {
            crawl.fail(t);
        }
    }
}
