package lamprey.dns;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The hosts file; read again when it has changed, looked at once a second at most. */
final class Hosts {
    private static final long PERIOD = 1_000_000_000L;

    private final Path file;
    private FileTime time;
    private long looked;
    private Map<String, List<InetAddress>> byName = Collections.emptyMap();
    private Map<InetAddress, String> byAddress = Collections.emptyMap();

    /** @param file null for none */
    Hosts(Path file) {
        this.file = file;
        this.looked = System.nanoTime() - PERIOD;
    }

    /** Empty if it is not there. */
    synchronized List<InetAddress> addresses(String name) {
        refresh();
        return byName.getOrDefault(name, Collections.<InetAddress>emptyList());
    }

    /** Null if it is not there. */
    synchronized String name(InetAddress address) {
        refresh();
        return byAddress.get(address);
    }

    private void refresh() {
        if (file == null || System.nanoTime() - looked < PERIOD) {
            return;
        }
        looked = System.nanoTime();
        try {
            FileTime now = Files.getLastModifiedTime(file);
            if (!now.equals(time)) {
                read();
                time = now;
            }
        } catch (IOException e) {
            time = null;
            byName = Collections.emptyMap();
            byAddress = Collections.emptyMap();
        }
    }

    private void read() throws IOException {
        Map<String, List<InetAddress>> names = new HashMap<>();
        Map<InetAddress, String> addresses = new HashMap<>();
        try (BufferedReader in = Files.newBufferedReader(file, StandardCharsets.ISO_8859_1)) {
            String line;
            while ((line = in.readLine()) != null) {
                String[] words = line.replaceAll("#.*", "").trim().split("\\s+");
                InetAddress address = words.length < 2 ? null : literal(words[0]);
                for (int i = 1; address != null && i < words.length; i++) {
                    String name = words[i].toLowerCase(Locale.ROOT);
                    List<InetAddress> list = names.computeIfAbsent(name, n -> new ArrayList<>());
                    if (!list.contains(address)) {
                        list.add(InetAddress.getByAddress(name, address.getAddress()));
                    }
                    addresses.putIfAbsent(address, words[i]);
                }
            }
        }
        byName = names;
        byAddress = addresses;
    }

    private static InetAddress literal(String text) {
        try {
            return Literals.parse(text);
        } catch (UnknownHostException e) {
            return null;
        }
    }
}
