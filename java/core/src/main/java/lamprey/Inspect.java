package lamprey;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;

/** What the threads of all runtimes do. Looking changes nothing, and stops nobody. */
public final class Inspect {
    /** When the first runtime was made. */
    static final long START = System.nanoTime();
    private static final Set<PicoRuntime> RUNTIMES = Collections.newSetFromMap(new WeakHashMap<>());

    private Inspect() {}

    static void register(PicoRuntime r) {
        synchronized (RUNTIMES) {
            RUNTIMES.add(r);
        }
    }

    /** The runtimes that have not been closed, the oldest first. */
    public static List<PicoRuntime> runtimes() {
        List<PicoRuntime> all;
        synchronized (RUNTIMES) {
            all = new ArrayList<>(RUNTIMES);
        }
        all.removeIf(r -> r.stopped);
        all.sort((a, b) -> Integer.compare(a.number, b.number));
        return all;
    }

    /** A row for each thread that blocks or has blocked, and for each that runs on a carrier now. Those that are ready and have never blocked are in none. */
    public static List<ThreadRow> threads() {
        Set<PicoThread> all = new LinkedHashSet<>();
        Map<PicoThread, Carrier> running = new HashMap<>();
        for (PicoRuntime r : runtimes()) {
            all.addAll(r.threads());
            for (Carrier c : r.crew.carriers()) {
                PicoThread t = c.running;
                if (t != null) {
                    all.add(t);
                    running.put(t, c);
                }
            }
        }
        return ThreadRow.of(all, running);
    }

    /** All threads as text, with what each waits for, and where; those that wait in the same way are listed once. */
    public static String dump() {
        StringBuilder text = new StringBuilder();
        for (PicoRuntime r : runtimes()) {
            text.append(r.dump());
        }
        return text.toString();
    }

    /**
     * The rings of threads that wait for each other: each holds a lock that the next one waits for, or is joined by it. They never go on, unless one is interrupted. Waits with a time
     * limit end by themselves, so they are in no ring. Each thread is in one ring at most.
     */
    public static List<List<ThreadRow>> stuck() {
        return Rings.now();
    }

    /**
     * Opens an endpoint on which the program answers what it is doing: to {@code lamprey top} and {@code lamprey dump}, and to a browser, which gets a page. Everybody who may connect can read
     * names of threads, methods and files; on this machine those are all of its users.
     *
     * <p>A kernel thread of its own serves it, so it answers even if all carriers are held. It waits for no client: those that are slow or silent keep nobody waiting, and lose their connection. It
     * does not keep a deadlock from being noticed, nor the JVM from ending. The property {@code -Dlamprey.inspect=127.0.0.1:7070} opens one where {@link PicoRuntime#standard()} is made.
     *
     * @param address of this machine alone, with a port: {@code 127.0.0.1:7070}, {@code [::1]:7070}; port 0 takes a free one
     * @throws IOException if the port is taken, say
     * @throws IllegalArgumentException for what is no address, and for an address that others can reach
     */
    public static InspectServer serve(String address) throws IOException {
        return InspectServer.open(address, null);
    }

    /**
     * The same at any address, also one that others can reach, for those who know {@code token}. They send it as a header ({@code Authorization: Bearer TOKEN}), or in the address
     * ({@code http://HOST:PORT/?token=TOKEN}). It is not encrypted, nor is what is answered.
     *
     * @param token at least 16 letters, digits, and characters of {@code -._~}
     * @throws IOException if the port is taken, say
     * @throws IllegalArgumentException for what is no address, or no token
     */
    public static InspectServer serveWithToken(String address, String token) throws IOException {
        return InspectServer.open(address, java.util.Objects.requireNonNull(token));
    }
}
