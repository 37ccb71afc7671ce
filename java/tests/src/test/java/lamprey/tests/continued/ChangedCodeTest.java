package lamprey.tests.continued;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import javax.tools.ToolProvider;
import lamprey.continuation.Computation;
import lamprey.continuation.Continuation;
import lamprey.continuation.ContinuationCodec;
import lamprey.continuation.RefusedException;
import lamprey.transform.Mode;
import lamprey.transform.Options;
import lamprey.transform.Transformation;
import lamprey.transform.folder.ClassFolder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A continuation is written by one version of a program and read by another, both compiled and transformed here. */
@Timeout(240)
class ChangedCodeTest {
    private static final String SOURCE = String.join("\n",
        "package travel;",
        "public class P implements lamprey.continuation.Computation<String, String> {",
        "    public String run(String first) {",
        "        return outer(first.length()) + first;",
        "    }",
        "    static String outer(int n) {",
        "        return n + step(n);",
        "    }",
        "    static String step(int n) {",
        "        String answer = lamprey.continuation.Continuation.suspend(\"question\");",
        "        return \"<\" + answer + n + \">\";",
        "    }",
        "    static int unused() {",
        "        return 1;",
        "    }",
        "}");

    @TempDir
    Path dir;

    private URLClassLoader version(String name, String source) throws Exception {
        Path file = Files.write(Files.createDirectories(dir.resolve(name).resolve("src")).resolve("P.java"), source.getBytes(StandardCharsets.UTF_8));
        Path classes = Files.createDirectories(dir.resolve(name).resolve("classes"));
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, System.err, "-g", "-d", classes.toString(), file.toString(),
            "-cp", System.getProperty("java.class.path")));
        List<Path> classPath = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            classPath.add(Paths.get(entry));
        }
        Options options = new Options();
        options.mode = Mode.valueOf(System.getProperty("lamprey.tests.mode", "EXCEPTIONS"));
        Path out = dir.resolve(name).resolve("light");
        Transformation t = ClassFolder.transform(classes, out, dir.resolve(name).resolve("kept"), classPath, options, false);
        assertTrue(t.refusals.isEmpty(), t.refusals.toString());
        return new URLClassLoader(new URL[] {out.toUri().toURL()}, ChangedCodeTest.class.getClassLoader());
    }

    private static ContinuationCodec codec(ClassLoader loader) {
        return ContinuationCodec.withKey(new byte[32]).allowFrames("travel").loader(loader);
    }

    @SuppressWarnings("unchecked")
    private static byte[] written(ClassLoader loader) throws Exception {
        Computation<String, String> p = (Computation<String, String>) loader.loadClass("travel.P").getDeclaredConstructor().newInstance();
        Continuation<String, String> k = Continuation.of(p).run("from");
        assertEquals("question", k.value());
        return codec(loader).encode(k);
    }

    private void accepted(String source) throws Exception {
        try (URLClassLoader before = version("before", SOURCE); URLClassLoader after = version("after", source)) {
            Continuation<String, String> k = codec(after).decode(written(before));
            assertEquals("4<yes4>from", k.run("yes").value());
        }
    }

    private void refused(String source, String method) throws Exception {
        try (URLClassLoader before = version("before", SOURCE); URLClassLoader after = version("after", source)) {
            byte[] bytes = written(before);
            RefusedException e = assertThrows(RefusedException.class, () -> codec(after).decode(bytes));
            assertEquals(RefusedException.Reason.CHANGED, e.reason(), e.getMessage());
            assertTrue(e.getMessage().contains(method), e.getMessage());
        }
    }

    @Test
    void same_source() throws Exception {
        accepted(SOURCE);
    }

    @Test
    void other_lines() throws Exception {
        accepted(SOURCE.replace("package travel;", "package travel;\n\n// A comment.\n"));
    }

    @Test
    void another_method_of_the_class() throws Exception {
        accepted(SOURCE.replace("return 1;", "return 2;"));
    }

    @Test
    void constant_of_the_innermost_method() throws Exception {
        refused(SOURCE.replace("\"<\"", "\"[\""), "travel.P.step(I)");
    }

    @Test
    void code_behind_the_call_of_a_caller() throws Exception {
        refused(SOURCE.replace("return n + step(n);", "return 2 * n + step(n);"), "travel.P.outer(I)");
    }

    @Test
    void methods_in_another_order() throws Exception {
        String unused = "    static int unused() {\n        return 1;\n    }\n";
        refused(SOURCE.replace(unused, "").replace("    public String run", unused + "    public String run"), "travel.P.");
    }

    @Test
    void method_is_gone() throws Exception {
        refused(SOURCE.replace("step(", "pace("), "travel.P.");
    }

    @Test
    void class_no_longer_suspends() throws Exception {
        refused(SOURCE.replace("lamprey.continuation.Continuation.suspend(\"question\")", "\"answer\""), "travel.P.");
    }
}
