package lamprey.piranha;

import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import lamprey.piranha.robots.Robots;

/** One web server, that is scheme, name and port: what its robots.txt says, and how politely it is visited. */
final class Host {
    /** Longer files are cut there (RFC 9309, 2.5). */
    private static final int ROBOTS_LIMIT = 500 * 1024;
    private static final int ROBOTS_REDIRECTS = 5;
    /** Longer delays asked for by robots.txt are not waited for in full. */
    private static final long LONGEST_DELAY_MILLIS = 60_000;

    private final URL robotsTxt;
    private final Options options;
    private final Gate gate;
    private final Object reading = new Object();
    /** Guarded by {@link #reading}; null until read. */
    private Robots robots;
    /** Why robots.txt could not be read. Guarded by {@link #reading}. */
    private IOException unreachable;
    /** When the next request may start, by {@link System#nanoTime}. Guarded by this. */
    private long next;
    private boolean visited;

    Host(URL robotsTxt, Options options) {
        this.robotsTxt = robotsTxt;
        this.options = options;
        this.gate = new Gate(options.perHost, options.policy);
    }

    /**
     * What robots.txt says. The first thread that asks reads it, the others wait.
     *
     * @throws IOException if the server cannot be reached, for each page of it; as RFC 9309 says, none may be read then
     */
    Robots robots() throws IOException {
        synchronized (reading) {
            if (unreachable != null) {
                throw unreachable;
            }
            if (robots == null) {
                try {
                    robots = options.robots ? read() : Robots.ALLOW_ALL;
                } catch (IOException e) {
                    unreachable = e;
                    throw e;
                }
            }
            return robots;
        }
    }

    /** RFC 9309, 2.3.1: a server that says no such file allows everything, one that fails nothing. */
    private Robots read() throws IOException {
        URL at = robotsTxt;
        for (int i = 0; i <= ROBOTS_REDIRECTS; i++) {
            Response r = Response.read(at, options, ROBOTS_LIMIT);
            if (r.location == null) {
                return r.status >= 500 ? Robots.DISALLOW_ALL : r.status >= 400 ? Robots.ALLOW_ALL
                    : Robots.parse(new String(r.body, StandardCharsets.UTF_8), options.agent);
            }
            at = r.location;
        }
        return Robots.ALLOW_ALL;
    }

    /** Waits until a request to this server may start. */
    void enter(Robots rules) throws InterruptedException {
        gate.enter();
        try {
            long nanos = untilNext(TimeUnit.MILLISECONDS.toNanos(
                Math.max(options.delayMillis, Math.min(rules.crawlDelayMillis(), LONGEST_DELAY_MILLIS))));
            if (nanos > 0) {
                Thread.sleep(TimeUnit.NANOSECONDS.toMillis(nanos) + 1);
            }
        } catch (InterruptedException e) {
            gate.leave();
            throw e;
        }
    }

    /** The request has ended. */
    void leave() {
        gate.leave();
    }

    /** Reserves the next start, and says how far off it is. */
    private synchronized long untilNext(long delay) {
        long now = System.nanoTime();
        long start = visited && next - now > 0 ? next : now;
        visited = true;
        next = start + delay;
        return start - now;
    }
}
