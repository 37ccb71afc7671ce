package lamprey.dns;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;

/**
 * What rewritten programs call instead of the methods of {@link InetAddress} and {@link InetSocketAddress} that ask name servers: same arguments, results and
 * exceptions. They block only the calling thread, light or not.
 */
public final class Dns {
    private static volatile Resolver resolver;

    private Dns() {}

    /** The resolver of this process: the system's configuration, read when it is first needed. */
    public static Resolver resolver() {
        Resolver r = resolver;
        if (r == null) {
            synchronized (Dns.class) {
                r = resolver;
                if (r == null) {
                    r = new Resolver(Config.ofSystem());
                    resolver = r;
                }
            }
        }
        return r;
    }

    /** Replaces the resolver of this process; null for the system's configuration, read again. */
    public static void resolver(Resolver by) {
        resolver = by;
    }

    /** For {@link InetAddress#getByName}. */
    public static InetAddress address(String host) throws UnknownHostException {
        return resolver().addresses(host)[0];
    }

    /** For {@link InetAddress#getAllByName}. */
    public static InetAddress[] addresses(String host) throws UnknownHostException {
        return resolver().addresses(host);
    }

    /** For {@link InetAddress#getLocalHost}. */
    public static InetAddress localHost() throws UnknownHostException {
        String name;
        try {
            name = new String(Files.readAllBytes(Paths.get("/proc/sys/kernel/hostname")), StandardCharsets.ISO_8859_1).trim();
        } catch (IOException e) {
            return InetAddress.getLocalHost();
        }
        return address(name);
    }

    /** For {@code new InetSocketAddress(String, int)}: unresolved, if there is no such host. */
    public static InetSocketAddress socketAddress(String host, int port) {
        if (host == null) {
            throw new IllegalArgumentException("hostname can't be null");
        }
        if (port < 0 || port > 0xffff) {
            throw new IllegalArgumentException("port out of range:" + port);
        }
        try {
            return new InetSocketAddress(address(host), port);
        } catch (UnknownHostException e) {
            return InetSocketAddress.createUnresolved(host, port);
        }
    }

    /** For {@link InetAddress#getHostName}. */
    public static String hostName(InetAddress address) {
        String text = address.toString();
        int slash = text.lastIndexOf('/');
        return slash > 0 ? text.substring(0, slash) : canonicalHostName(address);
    }

    /** For {@link InetAddress#getCanonicalHostName}: the literal, unless the name that is found has this address. */
    public static String canonicalHostName(InetAddress address) {
        try {
            String name = resolver().name(address);
            if (name != null) {
                for (InetAddress a : resolver().addresses(name)) {
                    if (a.equals(address)) {
                        return name;
                    }
                }
            }
        } catch (IOException e) {
            // No name is known.
        }
        return address.getHostAddress();
    }

    /** For {@link InetSocketAddress#getHostName}. */
    public static String hostName(InetSocketAddress address) {
        return address.getAddress() == null ? address.getHostString() : hostName(address.getAddress());
    }
}
