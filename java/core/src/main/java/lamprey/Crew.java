package lamprey;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The carriers of a runtime. There are as many places as the runtime was made for, each with its queue; each place has one carrier. While a carrier is held by code that is
 * not transformed, another may take its place, and its queue ({@link #replace}, which only {@link Watch} calls). The replaced one goes on with its thread until that is suspended
 * or ends, and ends then.
 *
 * <p><b>States of a carrier.</b> In its place: {@link Carrier#queue} is the queue of the place. Replaced: it is {@link #outside}, for good; what the carrier makes ready goes to
 * the inbox. Gone: no more in {@link #carriers}; what it had counted is in {@link #goneStarted} and {@link #goneEnded}.
 *
 * <p><b>One carrier in a queue.</b> Queues and policies need no locks, as only the carrier of their place is in them (but for what {@link ReadyQueue} says of thieves). So a carrier
 * is replaced only while it is surely not in its queue, and without a step that would cost it anything: {@code replace} first takes the queue away, then takes the carrier's
 * stack. To take it, the JVM stops the carrier at a safepoint, or finds it blocked. What the stack shows comes after all that the carrier has done with the queue, and before
 * all that it will do. If it shows the carrier waiting in code that is not the runtime's, with no method of a queue or policy among the callers, then each later use reads {@code Carrier.queue}
 * anew, and finds it taken away. Else the queue is given back; meanwhile the carrier may have found it taken away: what it made ready is in the inbox, which is as good, and where it asks for
 * the next thread it waits for the decision ({@link #isReplaced}).
 *
 * <p><b>Orderings.</b> {@code Carrier.queue} is volatile: a carrier that goes on after its stack was taken reads what {@code replace} wrote before. What the replaced carrier wrote to the queue is
 * seen by the new one: taking the stack orders it before {@code replace} goes on (a handshake of the JVM, or its safepoint), and that starts the new one. This much is HotSpot's, and not in the
 * memory model of the language.
 *
 * <p><b>The lock</b> of this object guards {@code all}, {@code extra}, the counts, and every write of {@code Carrier.queue}. No code of a program runs under it.
 *
 * <p><b>Rejected.</b> A lock, or a flag, that the carrier takes around each use of its queue: it would cost each switch. Adding carriers that steal: a runtime with one carrier, or with a policy that
 * hands out nothing to others, has queues that cannot be stolen from.
 */
final class Crew {
    private static final Carrier[] NONE = {};

    /** One for each place. */
    final ReadyQueue[] queues;
    /** The queue of those that have been replaced. */
    final ReadyQueue outside;
    /** How many carriers wait in static initialisers, together with their threads. */
    final AtomicInteger held = new AtomicInteger();

    private final PicoRuntime runtime;
    private final String name;
    /** How many may be replaced and not yet gone. */
    private final int limit;
    /** Those in their places, and those replaced that are not gone. Copied on writing. */
    private volatile Carrier[] all = NONE;
    /** How many are replaced and not gone. */
    private int extra;
    /** How many have ever been replaced. */
    private int replaced;
    private long goneStarted;
    private long goneEnded;

    Crew(PicoRuntime runtime, ReadyQueue[] queues, int limit, String name) {
        this.runtime = runtime;
        this.queues = queues;
        this.limit = limit;
        this.name = name;
        outside = new ReadyQueue.Outside(runtime);
    }

    /** Starts one for each place. */
    void start() {
        Carrier[] first = new Carrier[queues.length];
        for (int i = 0; i < first.length; i++) {
            first[i] = new Carrier(runtime, queues[i], i, name + i);
        }
        all = first;
        for (Carrier c : first) {
            c.start();
        }
        if (first.length > 0) {
            Watch.over(runtime);
        }
    }

    /** All that are not gone. */
    Carrier[] carriers() {
        return all;
    }

    /** How many there can be at the same time. */
    int most() {
        return queues.length + limit;
    }

    /** How many may be added while others are held. */
    int limit() {
        return limit;
    }

    /** Whether another has its place. Asked by the carrier itself, when it has nothing to run. */
    boolean isReplaced(Carrier c) {
        if (c.queue != outside) {
            return false;
        }
        synchronized (this) {
            return c.queue == outside;
        }
    }

    /** Whether no more can be added until one comes back. */
    synchronized boolean isExhausted() {
        return extra >= limit;
    }

    /**
     * Lets a new carrier take the place of {@code c}, if that is held, in the step in which it has counted {@code tick}.
     *
     * @return whether it has been replaced
     */
    synchronized boolean replace(Carrier c, int tick) {
        ReadyQueue queue = c.queue;
        if (queue == outside || extra >= limit || runtime.stopped) {
            return false;
        }
        Carrier other = new Carrier(runtime, queue, c.index, name + c.index + "+" + (replaced + 1));
        Carrier[] more = Arrays.copyOf(all, all.length + 1);
        more[all.length] = other;
        boolean done = false;
        c.queue = outside;
        try {
            if (HeldStack.isAwayFromQueue(c.getStackTrace()) && c.running != null && c.tick == tick) {
                all = more;
                other.start();
                done = true;
            }
        } finally {
            if (done) {
                extra++;
                replaced++;
            } else {
                all = Arrays.copyOf(more, more.length - 1);
                c.queue = queue;
            }
        }
        return done;
    }

    /** A replaced carrier ends. */
    void retire(Carrier c) {
        synchronized (this) {
            Carrier[] others = new Carrier[all.length - 1];
            int n = 0;
            for (Carrier o : all) {
                if (o != c) {
                    others[n++] = o;
                }
            }
            goneStarted += c.started;
            goneEnded += c.ended;
            all = others;
            extra--;
        }
        // Who has counted meanwhile has found the counts at the old place or the new.
        runtime.checkEnd();
    }

    /** How many threads that are no daemons have been started by carriers. Never decreases. */
    synchronized long started() {
        long n = goneStarted;
        for (Carrier c : all) {
            n += c.started;
        }
        return n;
    }

    /** How many threads that are no daemons have ended on carriers. Never decreases. */
    synchronized long ended() {
        long n = goneEnded;
        for (Carrier c : all) {
            n += c.ended;
        }
        return n;
    }
}
