package lamprey.tests.readme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import lamprey.tests.Bytes;
import lamprey.transform.cli.Main;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Each program of README.md prints what the README says, transformed by the command line and run in a JVM of its own. */
@Timeout(240)
class ReadmeTest {
    private static final Pattern PROGRAM = Pattern.compile("```java\\n(.*?)```\\n\\n```text\\n(.*?)```", Pattern.DOTALL);
    private static final Pattern NAME = Pattern.compile("public class (\\w+)");

    @TempDir
    Path folder;

    @TestFactory
    Stream<DynamicTest> programs() throws Exception {
        String readme = Bytes.text(Paths.get("../README.md"));
        List<DynamicTest> tests = new ArrayList<>();
        Matcher m = PROGRAM.matcher(readme);
        while (m.find()) {
            String source = m.group(1);
            String expected = m.group(2);
            Matcher name = NAME.matcher(source);
            assertTrue(name.find(), source);
            tests.add(DynamicTest.dynamicTest(name.group(1), () -> assertEquals(expected, output(name.group(1), source))));
        }
        assertEquals(readme.split("```java\n", -1).length - 1, tests.size(), "a program without the text that it prints");
        assertTrue(tests.size() >= 4, "README.md has lost its programs");
        return tests.stream();
    }

    private String output(String name, String source) throws Exception {
        Path classes = Files.createDirectories(folder.resolve(name).resolve("classes"));
        Path file = Files.write(folder.resolve(name).resolve(name + ".java"), source.getBytes(StandardCharsets.UTF_8));
        String path = System.getProperty("java.class.path");
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, System.err, "-cp", path, "-Xlint:-options", "-source", "8", "-target", "8", "-d", classes.toString(), file.toString()));
        assertEquals(0, Main.run(new String[] {"--classpath", path, classes.toString()}, System.out, System.err));
        Path out = folder.resolve(name).resolve("out");
        Process p = new ProcessBuilder(Paths.get(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m", "-Xverify:all", "-cp",
            classes + File.pathSeparator + path, name).redirectErrorStream(true).redirectOutput(out.toFile()).start();
        boolean ended = p.waitFor(180, TimeUnit.SECONDS);
        p.destroyForcibly();
        String text = new String(Files.readAllBytes(out), StandardCharsets.UTF_8);
        assertTrue(ended, "does not end: " + text);
        assertEquals(0, p.exitValue(), text);
        // What the JVM says of its own options.
        return text.replaceAll("(?m)^OpenJDK 64-Bit Server VM warning.*\\n", "");
    }
}
