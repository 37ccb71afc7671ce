package lamprey.tests.levels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import lamprey.tests.Bytes;
import lamprey.tests.Jdks;
import lamprey.transform.ClassPath;
import lamprey.transform.Options;
import lamprey.transform.Transformation;
import lamprey.transform.Transformer;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Class files of versions 52, 61, 65 and 69, made by the javac of JDK 25, do the same transformed, on each JVM that can run them. The programs are in
 * {@code src/test/levels}; each uses what its version of Java has brought.
 */
class LevelsTest {
    @TempDir
    Path folder;

    @ParameterizedTest(name = "release {0} on JDK {1}")
    @CsvSource({"8, 8", "8, 17", "17, 17", "8, 25", "17, 25", "21, 25", "25, 25"})
    @Timeout(300)
    void transformed_program_prints_what_the_plain_one_does(int release, int jdk) throws Exception {
        String checked = "class files of Java " + release + " on JDK " + jdk;
        Path compiler = Jdks.homeFor(checked, 25);
        Path jvm = Jdks.homeFor(checked, jdk);
        Path plain = folder.resolve("plain");
        Path light = folder.resolve("light");
        String source = Paths.get("src/test/levels/" + release + "/Level.java").toAbsolutePath().toString();
        run(compiler.resolve("bin/javac"), "-Xlint:-options", "--release", "" + release, "-d", plain.toString(), source);
        assertEquals(44 + release, version(plain.resolve("Level.class")));
        int sites = transform(plain, light);
        assertTrue(sites > 10, "only " + sites + " sites");
        String expected = run(jvm.resolve("bin/java"), "-Xverify:all", "-cp", plain.toString(), "Level");
        assertTrue(expected.split("\n").length >= 4, expected);
        String path = light + java.io.File.pathSeparator + String.join(java.io.File.pathSeparator, runtime());
        assertEquals(expected, run(jvm.resolve("bin/java"), "-Xverify:all", "-cp", path, "Level"));
    }

    private static int version(Path classFile) throws IOException {
        byte[] file = Files.readAllBytes(classFile);
        return file[6] << 8 | file[7];
    }

    private static List<String> runtime() {
        List<String> entries = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(java.io.File.pathSeparator)) {
            String name = entry.replace('\\', '/');
            if (name.matches(".*/(core|net)/target/.*") || name.matches(".*/lamprey-(core|net)[^/]*\\.jar")) {
                entries.add(entry);
            }
        }
        return entries;
    }

    private static int transform(Path from, Path to) throws IOException {
        Map<String, byte[]> files = new LinkedHashMap<>();
        try (Stream<Path> all = Files.list(from)) {
            for (Path f : (Iterable<Path>) all.sorted()::iterator) {
                String name = f.getFileName().toString();
                files.put(name.substring(0, name.length() - 6), Files.readAllBytes(f));
            }
        }
        List<Path> path = new ArrayList<>();
        runtime().forEach(e -> path.add(Paths.get(e)));
        try (ClassPath source = new ClassPath(path)) {
            Transformation done = new Transformer(new Options(), source).transform(files);
            assertEquals(Collections.emptyList(), done.refusals);
            files.putAll(done.classes);
            Files.createDirectories(to);
            for (Map.Entry<String, byte[]> e : files.entrySet()) {
                Files.write(to.resolve(e.getKey() + ".class"), e.getValue());
            }
            return done.sites;
        }
    }

    /** What the program prints; it must end with 0. */
    private String run(Path program, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(Collections.singletonList(program.toString()));
        command.addAll(Arrays.asList(arguments));
        Path out = folder.resolve("out.txt");
        Process p = new ProcessBuilder(command).redirectErrorStream(false).redirectOutput(out.toFile()).redirectError(folder.resolve("err.txt").toFile()).start();
        boolean ended = p.waitFor(200, TimeUnit.SECONDS);
        if (!ended) {
            p.destroyForcibly();
        }
        String text = Bytes.text(out);
        assertTrue(ended && p.exitValue() == 0, () -> command + (ended ? " has failed" : " does not end") + "\n" + text + read(folder.resolve("err.txt")));
        return text;
    }

    private static String read(Path file) {
        try {
            return Bytes.text(file);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
