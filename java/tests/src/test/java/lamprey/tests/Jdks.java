package lamprey.tests;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The JDKs of this machine. {@code -Dlamprey.tests.jdks=path:path} names those that are not in {@code /usr/lib/jvm}. */
public final class Jdks {
    private Jdks() {}

    /** The version of the JVM that runs the tests: 8, 17, .. */
    public static int current() {
        String version = System.getProperty("java.specification.version");
        return Integer.parseInt(version.startsWith("1.") ? version.substring(2) : version);
    }

    /** Where a version is; null if nowhere. Of several, the one that runs the tests. */
    public static Path home(int version) throws IOException {
        if (current() == version) {
            Path home = Paths.get(System.getProperty("java.home"));
            // Until JDK 8, that is the JRE within.
            return home.endsWith("jre") && Files.exists(home.resolveSibling("bin/javac")) ? home.getParent() : home;
        }
        for (Path home : all()) {
            if (home.getFileName().toString().matches("(.*\\D)?" + version + "(\\D.*)?") && Files.exists(home.resolve("bin/javac"))) {
                return home;
            }
        }
        return null;
    }

    /** Where a version is. Without it the test is skipped, which says loudly what was not checked. */
    public static Path homeFor(String checked, int version) throws IOException {
        Path home = home(version);
        if (home == null) {
            System.out.println("!!!!!!!! NOT CHECKED: " + checked + ": no JDK " + version + " in /usr/lib/jvm or -Dlamprey.tests.jdks !!!!!!!!");
        }
        assumeTrue(home != null, "no JDK " + version);
        return home;
    }

    private static List<Path> all() throws IOException {
        List<Path> all = new ArrayList<>();
        for (String home : System.getProperty("lamprey.tests.jdks", "").split(":")) {
            if (!home.isEmpty()) {
                all.add(Paths.get(home));
            }
        }
        Path shared = Paths.get("/usr/lib/jvm");
        if (Files.isDirectory(shared)) {
            try (Stream<Path> homes = Files.list(shared)) {
                all.addAll(homes.sorted().collect(Collectors.toList()));
            }
        }
        return all;
    }
}
