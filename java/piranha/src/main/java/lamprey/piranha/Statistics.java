package lamprey.piranha;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** What a crawl has done so far. Any thread may count; a sum read while others count may be of slightly different moments. */
public final class Statistics {
    /** By status, or by the name of the exception: answers of each kind. */
    private final Map<String, AtomicLong> outcomes = new ConcurrentHashMap<>();
    private final AtomicLong pages = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong links = new AtomicLong();
    private final AtomicLong disallowed = new AtomicLong();
    private final AtomicLong failures = new AtomicLong();
    private final AtomicLong live = new AtomicLong();
    private final AtomicLong mostLive = new AtomicLong();
    private final long start = System.nanoTime();
    private volatile long end;
    private final long processorStart = processorNanos();
    private volatile long processorEnd;

    Statistics() {}

    void answer(Response r) {
        pages.incrementAndGet();
        bytes.addAndGet(r.body.length);
        count("status " + r.status);
    }

    void failure(Throwable t) {
        failures.incrementAndGet();
        count(t.getClass().getSimpleName());
    }

    void refused() {
        disallowed.incrementAndGet();
    }

    void links(int found) {
        links.addAndGet(found);
    }

    void begin() {
        long now = live.incrementAndGet();
        long most = mostLive.get();
        while (now > most && !mostLive.compareAndSet(most, now)) {
            most = mostLive.get();
        }
    }

    /** Returns whether no URL is left. */
    boolean end() {
        return live.decrementAndGet() == 0;
    }

    void finish() {
        processorEnd = processorNanos();
        end = System.nanoTime();
    }

    private void count(String outcome) {
        AtomicLong n = outcomes.get(outcome);
        if (n == null) {
            AtomicLong fresh = new AtomicLong();
            n = outcomes.putIfAbsent(outcome, fresh);
            n = n == null ? fresh : n;
        }
        n.incrementAndGet();
    }

    /** Answers that arrived, of whatever status. */
    public long pages() {
        return pages.get();
    }

    /** Of all bodies. */
    public long bytes() {
        return bytes.get();
    }

    /** Requests that got no answer. */
    public long failures() {
        return failures.get();
    }

    /** URLs that robots.txt forbids. */
    public long disallowed() {
        return disallowed.get();
    }

    /** The most URLs that had been taken up and not finished. */
    public long mostLive() {
        return mostLive.get();
    }

    /** Answers with this status, or failures with this exception. */
    public long outcome(String name) {
        AtomicLong n = outcomes.get(name);
        return n == null ? 0 : n.get();
    }

    /** From the start to the end, or to now. */
    public double seconds() {
        return Math.max(1, (end == 0 ? System.nanoTime() : end) - start) / 1e9;
    }

    /** Processor time of the whole process, in nanoseconds. */
    private static long processorNanos() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    @Override
    public String toString() {
        double s = seconds();
        double processor = Math.max(1, (processorEnd == 0 ? processorNanos() : processorEnd) - processorStart) / 1e9;
        return String.format("%d pages, %.1f KB, %d links in %.3f s: %.0f pages/s, %.0f KB/s, %.0f pages/CPU-s; %d failed, %d disallowed; at most %d URLs at once; %s",
            pages(), bytes() / 1024.0, links.get(), s, pages() / s, bytes() / 1024.0 / s, pages() / processor, failures(), disallowed(), mostLive(),
            new TreeMap<>(outcomes));
    }
}
