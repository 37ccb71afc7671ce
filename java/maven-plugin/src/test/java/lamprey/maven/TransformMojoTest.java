package lamprey.maven;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import javax.tools.ToolProvider;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugin.logging.SystemStreamLog;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The goal, without Maven: the fields that Maven sets are set by the test. */
class TransformMojoTest {
    private static final String GOOD = "class Good { static void leaf() { Runtime2.block(); } void call() { leaf(); } }";
    private static final String BAD = "class Bad {\n static { Runtime2.block(); }\n static { Good.leaf(); } }";

    @TempDir
    Path folder;
    private Path classes;
    private final List<String> log = new ArrayList<>();

    @BeforeEach
    void runtime() throws IOException {
        classes = Files.createDirectories(folder.resolve("classes"));
        compile(folder.resolve("runtime"), "lamprey/instrument/Primitive", "package lamprey.instrument; public @interface Primitive {}");
        compile(folder.resolve("runtime"), "Runtime2", "class Runtime2 { @lamprey.instrument.Primitive static void block() {} }");
    }

    private void compile(Path to, String name, String source) throws IOException {
        Path file = folder.resolve("src").resolve(name + ".java");
        Files.createDirectories(file.getParent());
        Files.write(file, source.replace("public @interface", "@java.lang.annotation.Retention(java.lang.annotation.RetentionPolicy.RUNTIME) public @interface").getBytes());
        String classPath = folder.resolve("runtime") + File.pathSeparator + classes;
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, "-nowarn", "-Xlint:-options", "-source", "8", "-target", "8", "-cp", classPath, "-d",
            Files.createDirectories(to).toString(), file.toString()));
    }

    private TransformMojo mojo() throws ReflectiveOperationException {
        TransformMojo mojo = new TransformMojo();
        set(mojo, "mode", "exceptions");
        set(mojo, "rewrite", false);
        set(mojo, "failOnRefusal", true);
        set(mojo, "kept", folder.resolve("kept").toFile());
        set(mojo, "classes", classes.toFile());
        set(mojo, "classPath", Arrays.asList(classes.toString(), folder.resolve("runtime").toString()));
        mojo.setLog(new SystemStreamLog() {
            @Override
            public void info(CharSequence text) {
                log.add("info " + text);
            }

            @Override
            public void warn(CharSequence text) {
                log.add("warn " + text);
            }

            @Override
            public void error(CharSequence text) {
                log.add("error " + text);
            }
        });
        return mojo;
    }

    private static void set(Object mojo, String name, Object value) throws ReflectiveOperationException {
        Class<?> c = mojo.getClass();
        while (Arrays.stream(c.getDeclaredFields()).noneMatch(f -> f.getName().equals(name))) {
            c = c.getSuperclass();
        }
        Field f = c.getDeclaredField(name);
        f.setAccessible(true);
        f.set(mojo, value);
    }

    @Test
    void classes_are_transformed_and_counted() throws Exception {
        compile(classes, "Good", GOOD);
        mojo().execute();
        assertEquals(Collections.singletonList("info transformed 1 classes, 2 methods, 2 sites, mode=exceptions"), log);
        assertTrue(Files.list(classes).anyMatch(p -> p.getFileName().toString().matches("Good\\$pico\\d+.class")));
    }

    @Test
    void every_refusal_is_named_and_nothing_is_written() throws Exception {
        compile(classes, "Good", GOOD);
        compile(classes, "Bad", BAD);
        byte[] before = Files.readAllBytes(classes.resolve("Good.class"));
        String message = assertThrows(MojoFailureException.class, mojo()::execute).getMessage();
        assertTrue(message.contains("2 places cannot be transformed; nothing is written"), message);
        assertTrue(message.contains("Bad.<clinit>:2: ") && message.contains("Bad.<clinit>:3: "), message);
        assertArrayEquals(before, Files.readAllBytes(classes.resolve("Good.class")));
        assertEquals(Collections.emptyList(), log);
    }

    @Test
    void refused_classes_are_left_if_that_is_wanted() throws Exception {
        compile(classes, "Good", GOOD);
        compile(classes, "Bad", BAD);
        byte[] bad = Files.readAllBytes(classes.resolve("Bad.class"));
        TransformMojo mojo = mojo();
        set(mojo, "failOnRefusal", false);
        mojo.execute();
        assertArrayEquals(bad, Files.readAllBytes(classes.resolve("Bad.class")));
        assertTrue(log.stream().anyMatch(l -> l.startsWith("warn left as it is: Bad.<clinit>:2")), log.toString());
        assertTrue(log.contains("info transformed 1 classes, 2 methods, 2 sites, mode=exceptions"), log.toString());
    }

    @Test
    void skipped_or_without_classes_nothing_happens() throws Exception {
        compile(classes, "Good", GOOD);
        TransformMojo mojo = mojo();
        set(mojo, "skip", true);
        mojo.execute();
        set(mojo, "skip", false);
        set(mojo, "classes", folder.resolve("none").toFile());
        mojo.execute();
        assertEquals(Arrays.asList("info skipped", "info no classes"), log);
        assertFalse(Files.exists(folder.resolve("kept")));
    }

    @Test
    void bad_parameters_say_what_is_wrong() throws Exception {
        compile(classes, "Good", GOOD);
        TransformMojo mojo = mojo();
        set(mojo, "mode", "fast");
        assertTrue(assertThrows(MojoExecutionException.class, mojo::execute).getMessage().contains("the mode is fast; known are exceptions and flags"));
        set(mojo, "mode", "flags");
        set(mojo, "rewrite", true);
        assertTrue(assertThrows(MojoExecutionException.class, mojo::execute).getMessage().contains("add lamprey-core"));
    }
}
