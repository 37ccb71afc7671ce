package lamprey.tests.rewrite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import lamprey.PicoThread;
import lamprey.tests.Jdks;
import lamprey.transform.Mode;
import lamprey.transform.Options;
import lamprey.transform.Transformation;
import lamprey.transform.folder.ClassFolder;

/**
 * A plain program, in source form, whose class {@code P} implements {@code Runnable} and leaves a text in the static field {@code result}. It is run by a kernel
 * thread as it is, and transformed by a light thread; both must leave the same text. With flags it is run in another JVM, as the runtime has one mode.
 */
final class Sources {
    private static final String START = "class Start { public static void main(String[] a) throws Exception { Thread t = new Thread(new P()); t.start(); t.join();"
        + " if (!t.getClass().getName().equals(\"lamprey.PicoThread\")) throw new Error(t.getClass().getName()); System.out.print(P.result); } }";

    /** The newest release of these that the running JDK knows. */
    static final String NEWEST = Jdks.current() >= 17 ? "17" : "8";

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
        if (!NEWEST.equals("8")) {
            same(NEWEST, source);
        }
    }

    static Transformation same(String release, String source) throws Exception {
        Path folder = Files.createTempDirectory("lamprey-rewrite");
        try {
            Sources s = new Sources(folder, release);
            s.compile(source);
            String plain = s.runPlain();
            assertFalse(plain.isEmpty());
            assertEquals(plain, s.runLight());
            if (release.equals(NEWEST)) {
                assertEquals(plain, s.runWithFlags());
            }
            return s.transformation;
        } finally {
            delete(folder);
        }
    }

    private void compile(String source) throws IOException {
        Path file = Files.write(Files.createDirectories(folder.resolve("src")).resolve("P.java"), source.getBytes());
        Path start = Files.write(folder.resolve("src").resolve("Start.java"), START.getBytes());
        Path classes = Files.createDirectories(folder.resolve("classes"));
        int code = ToolProvider.getSystemJavaCompiler().run(null, null, System.err, "-nowarn", "-g", "-source", release, "-target", release, "-Xlint:-options",
            "-XDignore.symbol.file", "-d", classes.toString(), file.toString(), start.toString());
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

    /** The whole program, with a main method, as a user would run it. */
    private String runWithFlags() throws Exception {
        List<Path> runtime = Arrays.asList(Paths.get("..", "core", "target", "classes-flags"), Paths.get("..", "net", "target", "classes-flags"));
        Options flags = new Options();
        flags.mode = Mode.FLAGS;
        Path light = folder.resolve("flags");
        Transformation t = ClassFolder.transform(folder.resolve("classes"), light, folder.resolve("kept"), runtime, flags, false);
        assertTrue(t.refusals.isEmpty(), t.refusals.toString());
        String classPath = light + File.pathSeparator + runtime.get(0) + File.pathSeparator + runtime.get(1);
        Path out = folder.resolve("out.txt");
        Process p = new ProcessBuilder(System.getProperty("java.home") + "/bin/java", "-Xverify:all", "-Xmx256m", "-Dfile.encoding=UTF-8", "-cp", classPath, "Start")
            .redirectErrorStream(true).redirectOutput(out.toFile()).start();
        if (!p.waitFor(200, TimeUnit.SECONDS)) {
            p.destroyForcibly().waitFor();
        }
        String text = new String(Files.readAllBytes(out), StandardCharsets.UTF_8);
        assertEquals(0, p.exitValue(), text);
        return text;
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
