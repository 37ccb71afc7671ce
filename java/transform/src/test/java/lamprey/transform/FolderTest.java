package lamprey.transform;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import lamprey.transform.cli.Main;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Folders of class files, by the command line. */
class FolderTest {
    private static final String LEAF = "class Leaf { static void go() throws InterruptedException { Thread.sleep(1); } }";
    private static final String QUIET = "class Leaf { static void go() throws InterruptedException { } }";
    private static final String CALLER = "class Caller { void call() throws InterruptedException { Leaf.go(); } public static void main(String[] a) {} }";

    @TempDir
    Path folder;
    private Path classes;
    private Path runtime;
    private String out;

    @BeforeEach
    void runtime() throws IOException {
        classes = Files.createDirectories(folder.resolve("classes"));
        runtime = Files.createDirectories(folder.resolve("runtime"));
        put(runtime, Program.compile(Arrays.asList(Program.RUNTIME), Collections.emptyMap()));
        Files.createDirectories(runtime.resolve("META-INF/lamprey"));
        Files.write(runtime.resolve(Names.REWRITES), Program.REWRITES.getBytes(StandardCharsets.UTF_8));
    }

    private static void put(Path folder, Map<String, byte[]> files) throws IOException {
        for (Map.Entry<String, byte[]> f : files.entrySet()) {
            Path file = folder.resolve(f.getKey() + ".class");
            Files.createDirectories(file.getParent());
            Files.write(file, f.getValue());
        }
    }

    private int run(String... args) {
        List<String> all = new ArrayList<>(Arrays.asList("--classpath", runtime + File.pathSeparator + folder.resolve("none.jar")));
        all.addAll(Arrays.asList(args));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream stream = new PrintStream(bytes, true);
        int code = Main.run(all.toArray(new String[0]), stream, stream);
        out = new String(bytes.toByteArray(), StandardCharsets.UTF_8);
        return code;
    }

    private static Map<String, byte[]> content(Path folder) throws IOException {
        Map<String, byte[]> content = new TreeMap<>();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path p : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                content.put(folder.relativize(p).toString(), Files.readAllBytes(p));
            }
        }
        return content;
    }

    private static void assertSame(Map<String, byte[]> a, Map<String, byte[]> b) {
        assertEquals(a.keySet(), b.keySet());
        a.forEach((name, bytes) -> assertArrayEquals(bytes, b.get(name), name));
    }

    @Test
    void in_place_twice_is_as_once() throws IOException {
        put(classes, new Program(LEAF, CALLER).compiled);
        assertEquals(0, run(classes.toString()), out);
        assertTrue(out.contains("2 classes, 2 methods, 2 sites"), out);
        Map<String, byte[]> once = content(classes);
        assertTrue(once.containsKey("Caller$pico$main.class") && once.keySet().stream().anyMatch(n -> n.matches("Leaf\\$pico\\d+.class")), once.keySet().toString());
        assertEquals(0, run(classes.toString()), out);
        assertSame(once, content(classes));
    }

    @Test
    void one_class_compiled_again_changes_the_others() throws IOException {
        put(classes, new Program(QUIET, CALLER).compiled);
        assertEquals(0, run(classes.toString()));
        assertFalse(out.contains("Caller.call"));
        Map<String, byte[]> quiet = content(classes);
        put(classes, Collections.singletonMap("Leaf", new Program(LEAF, CALLER).compiled.get("Leaf")));
        assertEquals(0, run("--verbose", classes.toString()));
        assertTrue(out.contains("Caller.call"), out);
        put(classes, Collections.singletonMap("Leaf", new Program(QUIET, CALLER).compiled.get("Leaf")));
        assertEquals(0, run(classes.toString()));
        assertSame(quiet, content(classes));
    }

    @Test
    void into_another_folder_the_first_stays_and_other_files_are_copied() throws IOException {
        put(classes, new Program(LEAF, CALLER).compiled);
        Files.write(classes.resolve("a.txt"), new byte[] {1});
        Map<String, byte[]> before = content(classes);
        Path light = folder.resolve("light");
        assertEquals(0, run("--output", light.toString(), "--mode", "flags", classes.toString()), out);
        assertSame(before, content(classes));
        assertTrue(Files.exists(light.resolve("a.txt")));
        assertEquals("flags", lamprey.transform.types.TypeInfo.of(Files.readAllBytes(light.resolve("Leaf.class"))).mode);
    }

    @Test
    void a_transformed_folder_without_originals_keeps_what_was_generated() throws IOException {
        put(classes, new Program(LEAF, CALLER).compiled);
        assertEquals(0, run(classes.toString()), out);
        Map<String, byte[]> once = content(classes);
        Path light = folder.resolve("light");
        String none = folder.resolve("no originals").toString();
        assertEquals(0, run("--output", light.toString(), "--originals", none, classes.toString()), out);
        assertTrue(out.contains("2 classes had been transformed before"), out);
        assertSame(once, content(light));
        assertEquals(0, run("--originals", none, classes.toString()), out);
        assertSame(once, content(classes));
    }

    @Test
    void one_class_compiled_again_without_originals_leaves_the_other_whole() throws IOException {
        put(classes, new Program(LEAF, CALLER).compiled);
        assertEquals(0, run(classes.toString()), out);
        put(classes, Collections.singletonMap("Leaf", new Program(QUIET, CALLER).compiled.get("Leaf")));
        assertEquals(0, run("--originals", folder.resolve("no originals").toString(), classes.toString()), out);
        java.util.Set<String> names = content(classes).keySet();
        assertTrue(names.stream().anyMatch(n -> n.matches("Caller\\$pico\\d+.class")), names.toString());
        assertFalse(names.stream().anyMatch(n -> n.startsWith("Leaf$pico")), names.toString());
    }

    @Test
    void nothing_is_written_if_a_place_is_refused() throws IOException {
        put(classes, new Program(LEAF, CALLER, "class Bad { static int x;\nstatic { try { Thread.sleep(1); } catch (InterruptedException e) { x = 1; } } }").compiled);
        Map<String, byte[]> before = content(classes);
        assertEquals(1, run(classes.toString()));
        assertTrue(out.contains("refused: Bad.<clinit>:2: lamprey.PicoThread.sleep suspends"), out);
        assertSame(before, content(classes));
        assertEquals(0, run("--leave-refused", classes.toString()), out);
        assertTrue(out.contains("left as it is: Bad.<clinit>:2"), out);
        assertArrayEquals(before.get("Bad.class"), content(classes).get("Bad.class"));
        assertTrue(content(classes).keySet().stream().anyMatch(n -> n.startsWith("Leaf$pico")));
    }

    @Test
    void bad_commands_say_what_is_wrong() throws IOException {
        assertEquals(2, run());
        assertTrue(out.contains("no folder of class files is given"), out);
        assertEquals(2, run(folder.resolve("nowhere").toString()));
        assertTrue(out.contains("nowhere is no folder"), out);
        assertEquals(2, run("--mode", "fast", classes.toString()));
        assertTrue(out.contains("the mode is fast; known are exceptions and flags"), out);
        assertEquals(2, run("--quick", "x", classes.toString()));
        assertTrue(out.contains("--quick is unknown"), out);
        assertEquals(2, run(classes.toString(), "--include"));
        assertTrue(out.contains("--include"), out);
        assertEquals(2, run("--assume", "no.Such", classes.toString()));
        assertTrue(out.contains("no.Such"), out);
        Files.write(folder.resolve("bad.jar"), new byte[] {1, 2, 3});
        assertEquals(2, run("--classpath", folder.resolve("bad.jar").toString(), classes.toString()));
        assertTrue(out.contains("bad.jar") && out.contains("as a jar"), out);
        Files.write(classes.resolve("X.class"), new byte[] {1, 2, 3});
        assertEquals(2, run(classes.toString()));
        assertTrue(out.contains("X.class is no class file"), out);
    }

    @Test
    void without_the_runtime_rewriting_is_refused() throws IOException {
        put(classes, new Program(LEAF).compiled);
        Files.delete(runtime.resolve(Names.REWRITES));
        assertEquals(2, run(classes.toString()));
        assertTrue(out.contains("add lamprey-core"), out);
        assertEquals(0, run("--no-rewrite", classes.toString()), out);
    }

    @Test
    void patterns() {
        List<String> p = Arrays.asList("com.foo.**", "!com.foo.Bar", "org.*");
        assertTrue(Patterns.anyMatches(p, "com/foo/x/Y"));
        assertFalse(Patterns.anyMatches(p, "com/foo/Bar"));
        assertFalse(Patterns.anyMatches(p, "com/foo/Bar$Inner"));
        assertTrue(Patterns.anyMatches(p, "org/A$B"));
        assertFalse(Patterns.anyMatches(p, "org/x/A"));
        assertFalse(Patterns.anyMatches(p, "com/foobar/X"));
    }
}
