package lamprey.piranha;

import java.net.URL;
import java.util.Enumeration;
import java.util.List;

/**
 * What the paper compares its program with: a fixed number of threads, which take URLs from a queue. How deep a URL is must be kept by hand, as the
 * thread that found it is not the one that reads it.
 */
final class Pool {
    private final Crawl crawl;
    /** Guarded by this. */
    private final Order.Line<Task> tasks;
    private boolean over;

    private static final class Task {
        final URL url;
        final int depth;

        Task(URL url, int depth) {
            this.url = url;
            this.depth = depth;
        }
    }

    Pool(Crawl crawl) {
        this.crawl = crawl;
        this.tasks = crawl.options.policy.line();
    }

    /** Starts the threads. They end when the crawl has. */
    void start(List<URL> first) {
        for (URL u : first) {
            put(new Task(u, 0));
        }
        for (int i = 0; i < crawl.options.threads; i++) {
            new Thread(this::work, "piranha-" + i).start();
        }
    }

    private void work() {
        try {
            for (Task t = take(); t != null; t = take()) {
                for (Enumeration<URL> e = crawl.getLinks(t.url, t.depth); e.hasMoreElements(); ) {
                    put(new Task(e.nextElement(), t.depth + 1));
                }
                if (crawl.isOver()) {
                    stop();
                }
            }
        } catch (Throwable t) {
            crawl.fail(t);
            stop();
        }
    }

    private synchronized void put(Task t) {
        tasks.add(t);
        notify();
    }

    private synchronized void stop() {
        over = true;
        notifyAll();
    }

    /** Null when there will be no more. */
    private synchronized Task take() throws InterruptedException {
        while (true) {
            Task t = over ? null : tasks.next();
            if (t != null || over) {
                return t;
            }
            wait();
        }
    }
}
