package lamprey.dns;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** Which name servers are asked, and how: {@code /etc/resolv.conf}. Immutable. */
public final class Config {
    private static final int PORT = 53;
    private static final int MAX_NDOTS = 15;
    private static final int MAX_TIMEOUT = 30;
    private static final int MAX_ATTEMPTS = 5;

    final List<InetSocketAddress> servers;
    final List<String> search;
    final int ndots;
    final int timeoutMillis;
    final int attempts;
    final boolean rotate;
    final Path hosts;

    private Config(List<InetSocketAddress> servers, List<String> search, int ndots, int timeoutMillis, int attempts, boolean rotate, Path hosts) {
        this.servers = Collections.unmodifiableList(servers);
        this.search = Collections.unmodifiableList(search);
        this.ndots = ndots;
        this.timeoutMillis = timeoutMillis;
        this.attempts = attempts;
        this.rotate = rotate;
        this.hosts = hosts;
    }

    /** With these servers, tried in this order; no search list; a hosts file, or null. */
    public static Config of(List<InetSocketAddress> servers, int timeoutMillis, int attempts, Path hosts) {
        if (servers.isEmpty() || timeoutMillis <= 0 || attempts <= 0) {
            throw new IllegalArgumentException("at least one server, and a positive time and number of attempts: " + servers + ", " + timeoutMillis
                + " ms, " + attempts);
        }
        return new Config(new ArrayList<>(servers), new ArrayList<String>(), 1, timeoutMillis, attempts, false, hosts);
    }

    /** This one with a search list. */
    public Config search(int ndots, String... domains) {
        return new Config(servers, Arrays.asList(domains), ndots, timeoutMillis, attempts, rotate, hosts);
    }

    /**
     * The system's. The property {@code lamprey.dns.servers}, addresses with or without a port and separated by commas, replaces the servers.
     */
    public static Config ofSystem() {
        List<String> lines = new ArrayList<>();
        Path file = Paths.get("/etc/resolv.conf");
        try (BufferedReader in = Files.newBufferedReader(file, StandardCharsets.ISO_8859_1)) {
            String line;
            while ((line = in.readLine()) != null) {
                lines.add(line);
            }
        } catch (IOException e) {
            // As the C library does: a server on this machine.
        }
        Config c = parse(lines, Paths.get("/etc/hosts"));
        String servers = System.getProperty("lamprey.dns.servers");
        if (servers == null) {
            return c;
        }
        List<InetSocketAddress> own = new ArrayList<>();
        for (String s : servers.split(",")) {
            InetSocketAddress server = server(s.trim());
            if (server == null) {
                throw new IllegalArgumentException("lamprey.dns.servers: \"" + s + "\" is not an address, such as 192.0.2.1, 192.0.2.1:53 or [2001:db8::1]:53");
            }
            own.add(server);
        }
        return new Config(own, c.search, c.ndots, c.timeoutMillis, c.attempts, c.rotate, c.hosts);
    }

    /** The lines of a {@code resolv.conf}. What is not understood is ignored, as the C library does. */
    static Config parse(List<String> lines, Path hosts) {
        List<InetSocketAddress> servers = new ArrayList<>();
        List<String> search = new ArrayList<>();
        int ndots = 1;
        int timeout = 5;
        int attempts = 2;
        boolean rotate = false;
        for (String line : lines) {
            String[] words = line.replaceAll("[#;].*", "").trim().split("\\s+");
            if (words.length < 2) {
                continue;
            }
            List<String> values = Arrays.asList(words).subList(1, words.length);
            if (words[0].equals("nameserver")) {
                InetSocketAddress server = server(values.get(0));
                if (server != null && servers.size() < 3) {
                    servers.add(server);
                }
            } else if (words[0].equals("search") || words[0].equals("domain")) {
                search = domains(values);
            } else if (words[0].equals("options")) {
                for (String option : values) {
                    ndots = number(option, "ndots:", ndots, 0, MAX_NDOTS);
                    timeout = number(option, "timeout:", timeout, 1, MAX_TIMEOUT);
                    attempts = number(option, "attempts:", attempts, 1, MAX_ATTEMPTS);
                    rotate |= option.equals("rotate");
                }
            }
        }
        if (servers.isEmpty()) {
            servers.add(new InetSocketAddress(InetAddress.getLoopbackAddress(), PORT));
        }
        return new Config(servers, search, ndots, timeout * 1000, attempts, rotate, hosts);
    }

    private static List<String> domains(List<String> values) {
        List<String> domains = new ArrayList<>();
        for (String v : values) {
            String name = v.endsWith(".") ? v.substring(0, v.length() - 1) : v;
            if (Message.isName(name)) {
                domains.add(name.toLowerCase(Locale.ROOT));
            }
        }
        return domains;
    }

    private static int number(String option, String key, int otherwise, int least, int most) {
        if (!option.startsWith(key)) {
            return otherwise;
        }
        try {
            return Math.max(least, Math.min(most, Integer.parseInt(option.substring(key.length()))));
        } catch (NumberFormatException e) {
            return otherwise;
        }
    }

    /** {@code address}, {@code address:port} or {@code [address]:port}; null if it is none of them. */
    private static InetSocketAddress server(String text) {
        String host = text;
        int port = PORT;
        int colon = text.lastIndexOf(':');
        if (colon > 0 && (text.indexOf(':') == colon || text.charAt(colon - 1) == ']')) {
            host = text.substring(0, colon);
            try {
                port = Integer.parseInt(text.substring(colon + 1));
            } catch (NumberFormatException e) {
                return null;
            }
        }
        try {
            InetAddress address = Literals.parse(host);
            return address == null || port < 1 || port > 0xffff ? null : new InetSocketAddress(address, port);
        } catch (UnknownHostException e) {
            return null;
        }
    }
}
