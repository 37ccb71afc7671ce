package lamprey.tests.rewrite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import lamprey.PicoThread;
import lamprey.transform.Options;
import lamprey.transform.Transformation;
import lamprey.transform.folder.ClassFolder;

/**
 * A plain program, in source form, whose class {@code P} implements {@code Runnable} and leaves a text in the static field {@code result}. It is run by a kernel
 * thread as it is, and transformed by a light thread; both must leave the same text.
 */
final class Sources {
    private final Path folder;
    final Options options = new Options();
    private final String release;
    private Transformation transformation;

    private Sources(Path folder, String release) {
        this.folder = folder;
        this.release = release;
    }

    static void same(String source) throws Exception {
        same("8", source);
        same("17", source);
    }

    static Transformation same(String release, String source) throws Exception {
        Path folder = Files.createTempDirectory("lamprey-rewrite");
        try {
            Sources s = new Sources(folder, release);
            s.compile(source);
            String plain = s.runPlain();
            assertFalse(plain.isEmpty());
            assertEquals(plain, s.runLight());
            return s.transformation;
        } finally {
            delete(folder);
        }
    }

    private void compile(String source) throws IOException {
        Path file = Files.write(Files.createDirectories(folder.resolve("src")).resolve("P.java"), source.getBytes());
        Path classes = Files.createDirectories(folder.resolve("classes"));
        int code = ToolProvider.getSystemJavaCompiler().run(null, null, System.err, "-nowarn", "-g", "--release", release, "-Xlint:-options",
            "-d", classes.toString(), file.toString());
        assertEquals(0, code, "javac has failed");
    }

    private String runPlain() throws Exception {
        try (URLClassLoader loader = loader("classes")) {
            Runnable p = (Runnable) loader.loadClass("P").getDeclaredConstructor().newInstance();
            Thread t = new Thread(p);
            t.start();
            t.join();
            return result(p);
        }
    }

    private String runLight() throws Exception {
        List<Path> classPath = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            classPath.add(Paths.get(entry));
        }
        transformation = ClassFolder.transform(folder.resolve("classes"), folder.resolve("light"), folder.resolve("kept"), classPath, options, false);
        assertTrue(transformation.refusals.isEmpty(), transformation.refusals.toString());
        assertTrue(transformation.methods.stream().anyMatch(m -> m.startsWith("P.run(")), transformation.methods.toString());
        try (URLClassLoader loader = loader("light")) {
            Runnable p = (Runnable) loader.loadClass("P").getDeclaredConstructor().newInstance();
            PicoThread t = new PicoThread(p);
            t.setUncaughtExceptionHandler((thread, e) -> e.printStackTrace());
            t.start();
            t.join();
            return result(p);
        }
    }

    private URLClassLoader loader(String classes) throws IOException {
        return new URLClassLoader(new URL[] {folder.resolve(classes).toUri().toURL()}, Sources.class.getClassLoader());
    }

    private static String result(Runnable p) throws ReflectiveOperationException {
        java.lang.reflect.Field f = p.getClass().getDeclaredField("result");
        f.setAccessible(true);
        return String.valueOf(f.get(null));
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path p : (Iterable<Path>) files.sorted(Comparator.reverseOrder())::iterator) {
                Files.delete(p);
            }
        }
    }

    /** Lines of a source file. */
    static String lines(String... lines) {
        return String.join("\n", Arrays.asList(lines));
    }
}
