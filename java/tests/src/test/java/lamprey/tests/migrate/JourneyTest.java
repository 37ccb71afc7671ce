package lamprey.tests.migrate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import lamprey.tests.Bytes;
import lamprey.tests.Jdks;
import lamprey.tests.Rewritten;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A continuation goes on in other JVMs: one process for each step. */
@Timeout(240)
class JourneyTest {
    @TempDir
    Path dir;
    private Path classes;

    @BeforeEach
    void write_transformed_classes() throws Exception {
        classes = dir.resolve("classes");
        for (Map.Entry<String, byte[]> e : Rewritten.transform(Journey.class).entrySet()) {
            Path file = classes.resolve(e.getKey() + ".class");
            Files.createDirectories(file.getParent());
            Files.write(file, e.getValue());
        }
        byte[] key = new byte[32];
        new SecureRandom().nextBytes(key);
        Files.write(dir.resolve("key"), key);
    }

    private String step(Path jdk, String what, String... more) throws Exception {
        List<String> command = new ArrayList<>(Arrays.asList(jdk.resolve("bin/java").toString(), "-Xmx128m", "-Xverify:all", "-cp",
            classes + File.pathSeparator + System.getProperty("java.class.path"), Journey.class.getName(), what,
            dir.resolve("key").toString(), dir.resolve("ledger").toString(), dir.resolve("file").toString()));
        command.addAll(Arrays.asList(more));
        Path output = dir.resolve("output");
        Process p = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        p.waitFor();
        String[] lines = Bytes.text(output).split("\n");
        StringBuilder text = new StringBuilder();
        for (String line : lines) {
            if (!line.startsWith("OpenJDK") && !line.startsWith("WARNING")) {
                text.append(line).append('\n');
            }
        }
        return text.toString();
    }

    /** The class files and the serialisation of JDKs must not differ. */
    @ParameterizedTest(name = "there and back with JDK {0}")
    @ValueSource(ints = {8, 17, 25})
    void suspended_in_one_jvm_goes_on_in_others(int jdk) throws Exception {
        Path here = Jdks.home(Jdks.current());
        Path there = Jdks.homeFor("continuations that travel between JDK " + Jdks.current() + " and " + jdk, jdk);
        assertEquals("asks: whither?\n", step(here, "start"));
        assertEquals("answered whither\nasks: what then?\n", step(there, "answer", "north"));
        byte[] copy = Files.readAllBytes(dir.resolve("file"));
        assertEquals("answered what then\nasks: and then?\n", step(here, "answer", "east"));
        String from = System.getProperty("java.specification.version");
        assertEquals("answered and then\nend: from " + from + " 0:north 1:east 2:home 19\n", step(there, "answer", "home"));

        Files.write(dir.resolve("file"), copy);
        String replay = step(here, "answer", "again");
        assertTrue(replay.contains("has been read before"), replay);
    }

    @Test
    void changed_on_the_way() throws Exception {
        Path here = Jdks.home(Jdks.current());
        step(here, "start");
        byte[] bytes = Files.readAllBytes(dir.resolve("file"));
        bytes[bytes.length / 2]++;
        Files.write(dir.resolve("file"), bytes);
        String refused = step(here, "answer", "north");
        assertTrue(refused.contains("not written with this key, or has been changed"), refused);
    }
}
