package lamprey.dns;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import lamprey.PicoThread;

/**
 * Finds the addresses of names, and names of addresses: literals, the hosts file, what is remembered, then the name servers. Its methods block only
 * the calling thread, light or not; an interrupt ends them with an {@link UnknownHostException} and stays set.
 *
 * <p>For each name that is being asked for there is one {@link Flight}; those who ask for the same name meanwhile wait for it.
 */
public final class Resolver {
    private static final int MOST_ALIASES = 8;
    private static final boolean ONLY_IPV4 = Boolean.getBoolean("java.net.preferIPv4Stack");
    private static final boolean IPV6_FIRST = "true".equals(System.getProperty("java.net.preferIPv6Addresses"));

    private final Config config;
    private final Hosts hosts;
    private final Cache cache = new Cache();
    private final Map<String, Flight> flights = new ConcurrentHashMap<>();
    private final AtomicInteger turn = new AtomicInteger();

    /** With a configuration. */
    public Resolver(Config config) {
        this.config = config;
        this.hosts = new Hosts(config.hosts);
    }

    /** Forgets all answers. */
    public void clear() {
        cache.clear();
    }

    /**
     * The addresses of a host, at least one; the loopback address for null or "". Blocks.
     *
     * @throws UnknownHostException if there is no such name, no server answers, or the thread is interrupted
     */
    public InetAddress[] addresses(String host) throws UnknownHostException {
        if (host == null || host.isEmpty()) {
            return new InetAddress[] {InetAddress.getLoopbackAddress()};
        }
        if (host.indexOf('\0') >= 0) {
            throw new UnknownHostException("NUL character not allowed in hostname");
        }
        InetAddress literal = Literals.parse(host);
        if (literal != null) {
            return new InetAddress[] {literal};
        }
        boolean complete = host.endsWith(".");
        String name = (complete ? host.substring(0, host.length() - 1) : host).toLowerCase(Locale.ROOT);
        if (!Message.isName(name)) {
            throw new UnknownHostException(host);
        }
        List<InetAddress> found = hosts.addresses(name);
        if (found.isEmpty()) {
            found = search(host, name, complete);
        }
        return named(host, found);
    }

    /** With the name as it was written, as the JDK has it. An address with a scope stays, which is only in a hosts file. */
    private static InetAddress[] named(String host, List<InetAddress> found) throws UnknownHostException {
        InetAddress[] all = new InetAddress[found.size()];
        for (int i = 0; i < all.length; i++) {
            InetAddress a = found.get(i);
            boolean scope = a instanceof Inet6Address && ((Inet6Address) a).getScopeId() != 0;
            all[i] = scope ? a : InetAddress.getByAddress(host, a.getAddress());
        }
        return all;
    }

    /** The name itself and with the domains of the search list, in the order that ndots says. */
    private List<InetAddress> search(String host, String name, boolean complete) throws UnknownHostException {
        List<String> candidates = new ArrayList<>();
        if (!complete) {
            for (String domain : config.search) {
                candidates.add(name + "." + domain);
            }
        }
        int dots = name.length() - name.replace(".", "").length();
        candidates.add(dots >= config.ndots ? 0 : candidates.size(), name);
        UnknownHostException failure = null;
        for (int i = 0; i < candidates.size(); i++) {
            String candidate = candidates.get(i);
            if (!Message.isName(candidate)) {
                continue;
            }
            try {
                List<InetAddress> found = addresses(host, candidate);
                if (!found.isEmpty()) {
                    return found;
                }
            } catch (IOException e) {
                failure = because(host, e);
                if (e instanceof InterruptedIOException && !(e instanceof java.net.SocketTimeoutException)) {
                    throw failure;
                }
            }
        }
        throw failure != null ? failure : new UnknownHostException(host);
    }

    private static UnknownHostException because(String host, IOException cause) {
        UnknownHostException e = new UnknownHostException(host + ": " + cause.getMessage());
        e.initCause(cause);
        return e;
    }

    private List<InetAddress> addresses(String host, String name) throws IOException {
        int[] types = ONLY_IPV4 ? new int[] {Message.A} : new int[] {Message.A, Message.AAAA};
        Answer[] answers = ask(name, types);
        List<InetAddress> found = new ArrayList<>();
        for (int i = 0; i < answers.length; i++) {
            Answer a = answers[IPV6_FIRST ? answers.length - 1 - i : i];
            for (byte[] bytes : a == null ? Collections.<byte[]>emptyList() : a.addresses) {
                found.add(InetAddress.getByAddress(host, bytes));
            }
        }
        return found;
    }

    /** The name of an address; null if it has none. Blocks. */
    public String name(InetAddress address) throws IOException {
        String ofHosts = hosts.name(address);
        if (ofHosts != null) {
            return ofHosts;
        }
        Answer a = ask(reverse(address.getAddress()), Message.PTR)[0];
        return a == null || a.names.isEmpty() ? null : a.names.get(0);
    }

    static String reverse(byte[] address) {
        StringBuilder name = new StringBuilder();
        for (int i = address.length - 1; i >= 0; i--) {
            int b = address[i] & 0xff;
            if (address.length == 4) {
                name.append(b).append('.');
            } else {
                name.append(Integer.toHexString(b & 15)).append('.').append(Integer.toHexString(b >> 4)).append('.');
            }
        }
        return name.append(address.length == 4 ? "in-addr.arpa" : "ip6.arpa").toString();
    }

    /** What is remembered, or a flight's outcome. One of several answers may be null, if the server said nothing of that type. */
    private Answer[] ask(String name, int... types) throws IOException {
        String key = name + (types[0] == Message.PTR ? " ptr" : "");
        while (true) {
            Answer[] known = remembered(name, types);
            if (known != null) {
                return known;
            }
            Flight mine = new Flight();
            Flight other = flights.putIfAbsent(key, mine);
            if (other == null) {
                return lead(mine, key, name, types);
            }
            Object outcome;
            try {
                outcome = other.join(longest());
            } catch (InterruptedException e) {
                PicoThread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted while waiting for the address of " + name);
            }
            if (outcome instanceof Answer[]) {
                return (Answer[]) outcome;
            }
            if (outcome != null) {
                throw new IOException((String) outcome);
            }
            flights.remove(key, other);
        }
    }

    /**
     * How long to wait for another thread that asks, in nanoseconds. It may never answer: if it could not be suspended (a {@link lamprey.instrument.PinnedError}), no
     * code of {@link #lead} has run after that. When it only takes longer, two ask.
     */
    private long longest() {
        return TimeUnit.MILLISECONDS.toNanos(2L * config.timeoutMillis * config.attempts * config.servers.size());
    }

    private Answer[] lead(Flight flight, String key, String name, int[] types) throws IOException {
        Object outcome = null;
        try {
            Answer[] answers = remembered(name, types);
            if (answers == null) {
                answers = resolve(name, types);
            }
            outcome = answers;
            return answers;
        } catch (IOException e) {
            boolean givenUp = e instanceof InterruptedIOException && !(e instanceof java.net.SocketTimeoutException);
            outcome = givenUp ? null : String.valueOf(e.getMessage());
            throw e;
        } finally {
            flights.remove(key, flight);
            flight.land(outcome);
        }
    }

    private Answer[] remembered(String name, int[] types) {
        Answer[] answers = new Answer[types.length];
        for (int i = 0; i < types.length; i++) {
            answers[i] = cache.get(types[i] + " " + name);
            if (answers[i] == null) {
                return null;
            }
        }
        return answers;
    }

    /** Asks, and goes on with the name that an answer ends with, if it is an alias. */
    private Answer[] resolve(String name, int[] types) throws IOException {
        Answer[] answers = fromServers(name, types);
        for (int i = 0; i < types.length; i++) {
            long ttl = Long.MAX_VALUE;
            int aliases = 0;
            while (answers[i] != null && answers[i].alias != null) {
                if (++aliases > MOST_ALIASES) {
                    throw new IOException("more than " + MOST_ALIASES + " aliases, or a circle");
                }
                ttl = Math.min(ttl, answers[i].ttl);
                answers[i] = fromServers(answers[i].alias, new int[] {types[i]})[0];
            }
            Answer a = answers[i];
            if (a != null) {
                a = new Answer(a.exists, a.addresses, a.names, null, Math.min(ttl, a.ttl));
                answers[i] = a;
                cache.put(types[i] + " " + name, a);
            }
        }
        return answers;
    }

    /** Tries the servers in turn until one answers something. */
    private Answer[] fromServers(String name, int[] types) throws IOException {
        int first = config.rotate ? Math.floorMod(turn.getAndIncrement(), config.servers.size()) : 0;
        IOException failure = null;
        for (int attempt = 0; attempt < config.attempts; attempt++) {
            for (int i = 0; i < config.servers.size(); i++) {
                InetSocketAddress server = config.servers.get((first + i) % config.servers.size());
                Exchange e = new Exchange(server, config.timeoutMillis, name, types);
                try {
                    e.run();
                    failure = e.failure != null ? e.failure : failure;
                } catch (java.net.SocketException broken) {
                    // The network is not reachable, say: another server may be.
                    failure = broken;
                }
                Answer[] answers = new Answer[types.length];
                IOException refused = read(e, name, types, answers);
                if (refused == null) {
                    return answers;
                }
                failure = e.failure != null && refused.getMessage() == null ? e.failure : refused;
            }
        }
        throw new IOException(failure.getMessage() == null ? "no name server answers" : failure.getMessage(), failure);
    }

    /** Whether anything has been answered: null if so, else why not. */
    private static IOException read(Exchange e, String name, int[] types, Answer[] answers) {
        IOException failure = new IOException();
        boolean any = false;
        for (int i = 0; i < types.length; i++) {
            Message m = e.responses[i];
            if (m == null) {
                continue;
            }
            if (m.code != Message.OK && m.code != Message.NO_SUCH_NAME) {
                failure = new IOException("the name server answers with error " + m.code);
                continue;
            }
            try {
                answers[i] = Answer.of(m, name, types[i]);
                any = true;
            } catch (Message.Malformed bad) {
                failure = new IOException("the name server's answer: " + bad.getMessage());
            }
        }
        return any ? null : failure;
    }
}
