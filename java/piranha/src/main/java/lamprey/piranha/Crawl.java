package lamprey.piranha;

import java.io.IOException;
import java.net.URL;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import lamprey.piranha.robots.Robots;

/**
 * What the threads of one crawl share: which URLs have been taken up, how many are left, the servers.
 *
 * <p>A URL is live from when it is admitted, by the thread that found it, until {@link #getLinks} has ended for it. When none is, the crawl has
 * ended; as the links of a page are admitted before its own URL ends, that cannot be seen too early.
 */
public final class Crawl {
    final Options options;
    private final Statistics statistics = new Statistics();
    private final Gate gate;
    private final Set<String> admitted = Collections.newSetFromMap(new ConcurrentHashMap<String, Boolean>());
    private final AtomicInteger admissions = new AtomicInteger();
    private final ConcurrentMap<String, Host> hosts = new ConcurrentHashMap<>();
    private final Set<String> startHosts = Collections.newSetFromMap(new ConcurrentHashMap<String, Boolean>());
    private final Set<String> startPages = new HashSet<>();
    private volatile boolean started;
    /** Guarded by this, as {@link #failure} is. */
    private boolean ended;
    private Throwable failure;

    /** Nothing happens before {@link #run}. */
    public Crawl(Options options) {
        this.options = options;
        this.gate = new Gate(options.threads, options.policy);
        for (URL u : options.start) {
            startHosts.add(u.getHost());
            startPages.add(u.toString());
        }
    }

    /**
     * Crawls. Blocks the calling thread until no URL is left.
     *
     * @throws IllegalStateException if a thread could not be started, or failed by an error of the program; its cause says why
     */
    public Statistics run() throws InterruptedException {
        start(admit(options.start));
        synchronized (this) {
            while (!ended && failure == null) {
                wait();
            }
            statistics.finish();
            if (failure != null) {
                throw new IllegalStateException("the crawl was given up (" + statistics + ")", failure);
            }
        }
        return statistics;
    }

    private void start(List<URL> first) {
        if (options.program == Options.Program.POOL) {
            new Pool(this).start(first);
            return;
        }
        for (URL u : first) {
            if (options.program == Options.Program.VIRTUAL) {
                new VirtualPiranha(this, u, 0).start();
            } else {
                new Thread(new Piranha(this, u, 0)).start();
            }
        }
    }

    /** Whether the server of a start page has answered, with whatever status. */
    boolean hasStarted() {
        return started;
    }

    /** What has been done so far. */
    public Statistics statistics() {
        return statistics;
    }

    /** Ends the crawl: what its threads have not done will not be done. */
    synchronized void fail(Throwable t) {
        failure = failure == null ? t : failure;
        notifyAll();
    }

    synchronized boolean isOver() {
        return ended || failure != null;
    }

    private synchronized void end() {
        ended = true;
        notifyAll();
    }

    /**
     * Reads a page, unless robots.txt forbids it. Blocks the calling thread for as long as that takes. A page that cannot be read has no links.
     *
     * @return the links that nobody has taken up before
     */
    Enumeration<URL> getLinks(URL url, int depth) {
        List<URL> links = Collections.emptyList();
        try {
            if (!isOver()) {
                Host host = host(url);
                Robots robots = host.robots();
                if (robots.allows(url.getFile())) {
                    links = admit(found(read(url, host, robots), url, depth));
                } else {
                    statistics.refused();
                    say(url, "disallowed by robots.txt");
                }
            }
        } catch (IOException | RuntimeException e) {
            // Whatever is wrong with one page, the others are read.
            statistics.failure(e);
            say(url, e);
        } catch (InterruptedException e) {
            statistics.failure(e);
            Thread.currentThread().interrupt();
        } finally {
            if (statistics.end()) {
                end();
            }
        }
        return Collections.enumeration(links);
    }

    /** The place at the server is taken first: a thread that waits there must not keep others from other servers. */
    private Response read(URL url, Host host, Robots robots) throws IOException, InterruptedException {
        host.enter(robots);
        try {
            gate.enter();
            try {
                Response r = Response.read(url, options, options.maxBytes);
                statistics.answer(r);
                if (startPages.contains(url.toString())) {
                    started = true;
                }
                say(url, r.status);
                return r;
            } finally {
                gate.leave();
            }
        } finally {
            host.leave();
        }
    }

    private List<URL> found(Response r, URL url, int depth) throws IOException {
        List<URL> found = new ArrayList<>();
        if (!options.links) {
            return found;
        }
        if (r.location != null) {
            found.add(r.location);
        } else if (r.status == 200 && r.isHtml() && depth < options.depth) {
            for (String link : Links.of(url, r)) {
                found.add(new URL(link));
            }
        }
        statistics.links(found.size());
        return found;
    }

    private List<URL> admit(List<URL> found) {
        List<URL> fresh = new ArrayList<>();
        for (URL u : found) {
            if ((options.otherHosts || startHosts.contains(u.getHost())) && admitted.add(u.toString())) {
                if (admissions.incrementAndGet() > options.pages) {
                    break;
                }
                statistics.begin();
                fresh.add(u);
            }
        }
        return fresh;
    }

    private Host host(URL url) {
        String name = url.getProtocol() + "://" + url.getAuthority();
        Host host = hosts.get(name);
        if (host == null) {
            Host fresh = new Host(Urls.robotsTxt(url), options);
            host = hosts.putIfAbsent(name, fresh);
            host = host == null ? fresh : host;
        }
        return host;
    }

    private void say(URL url, Object what) {
        if (options.verbose) {
            System.out.println(url + " " + what);
        }
    }
}
