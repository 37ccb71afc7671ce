package lamprey.dns;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** Addresses that are written as such: no server is asked. */
final class Literals {
    private Literals() {}

    /**
     * @return null if {@code host} is a name
     * @throws UnknownHostException if it looks like an address, but is none
     */
    static InetAddress parse(String host) throws UnknownHostException {
        if (host.indexOf(':') >= 0 || host.startsWith("[")) {
            // Has a colon, which no name has: the JDK asks no server for it.
            if (host.indexOf(':') < 0) {
                throw new UnknownHostException(host + ": invalid IPv6 address");
            }
            return InetAddress.getByName(host);
        }
        for (int i = 0; i < host.length(); i++) {
            char c = host.charAt(i);
            if ((c < '0' || c > '9') && c != '.') {
                return null;
            }
        }
        return InetAddress.getByAddress(dotted(host));
    }

    /** One to four numbers: all but the last are a byte each, the last is the rest. */
    private static byte[] dotted(String host) throws UnknownHostException {
        String[] parts = host.split("\\.", -1);
        byte[] address = new byte[4];
        if (parts.length > 4) {
            throw new UnknownHostException(host + ": invalid IPv4 address");
        }
        int last = parts.length - 1;
        for (int i = 0; i <= last; i++) {
            long most = i < last ? 255 : (1L << 8 * (4 - last)) - 1;
            long n = parts[i].isEmpty() || parts[i].length() > 10 ? Long.MAX_VALUE : Long.parseLong(parts[i]);
            if (n > most) {
                throw new UnknownHostException(host + ": invalid IPv4 address");
            }
            if (i < last) {
                address[i] = (byte) n;
            } else {
                for (int k = 3; k >= last; k--) {
                    address[k] = (byte) n;
                    n >>>= 8;
                }
            }
        }
        return address;
    }
}
