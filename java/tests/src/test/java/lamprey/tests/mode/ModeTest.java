package lamprey.tests.mode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import lamprey.PicoRuntime;
import lamprey.tests.Bytes;
import lamprey.transform.ClassPath;
import lamprey.transform.Mode;
import lamprey.transform.Options;
import lamprey.transform.Transformation;
import lamprey.transform.Transformer;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A program that is transformed for one mode, with the library for the other, is told so. */
@Timeout(240)
class ModeTest {
    private static final String FLAGS = "is transformed for flags, but the library on the class path is for exceptions: use lamprey-core-..-flags.jar";
    private static final String EXCEPTIONS = "is transformed for exceptions, but the library on the class path is for flags: use lamprey-core-..jar";

    /** The program in front of a library. */
    private static final class Loader extends ClassLoader {
        private final Map<String, byte[]> program;

        Loader(Mode mode, ClassLoader library) throws Exception {
            super(library);
            program = transformed(mode);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                byte[] file = program.get(name.replace('.', '/'));
                Class<?> loaded = findLoadedClass(name);
                return file == null ? super.loadClass(name, resolve) : loaded != null ? loaded : defineClass(name, file, 0, file.length);
            }
        }

        Object call(String method, Class<?>[] types, Object... arguments) throws Throwable {
            try {
                return loadClass("lamprey.tests.mode.Naps").getMethod(method, types).invoke(null, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }
    }

    private static Map<String, byte[]> transformed(Mode mode) throws Exception {
        String name = "lamprey/tests/mode/Naps";
        Options options = new Options();
        options.mode = mode;
        options.anyMode = true;
        List<Path> entries = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            entries.add(Paths.get(entry));
        }
        try (InputStream in = Naps.class.getResourceAsStream("Naps.class"); ClassPath path = new ClassPath(entries)) {
            Transformation done = new Transformer(options, path).transform(Collections.singletonMap(name, Bytes.all(in)));
            assertEquals(Collections.emptyList(), done.refusals);
            return new HashMap<>(done.classes);
        }
    }

    private static ClassLoader exceptions() {
        return ModeTest.class.getClassLoader();
    }

    private static ClassLoader flags() throws Exception {
        File built = new File(Paths.get(PicoRuntime.class.getProtectionDomain().getCodeSource().getLocation().toURI()).getParent().toFile(), "classes-flags");
        Assumptions.assumeTrue(built.isDirectory(), "the library has been built by another build");
        return new URLClassLoader(new URL[] {built.toURI().toURL()}, null);
    }

    private static void isRefused(Mode mode, ClassLoader library, String message) throws Throwable {
        Loader program = new Loader(mode, library);
        String main = assertThrows(IllegalStateException.class, () -> program.call("main", new Class<?>[] {String[].class}, (Object) new String[0])).getMessage();
        assertTrue(main.contains(message), main);
        String thread = (String) program.call("ended", new Class<?>[0]);
        assertTrue(thread.contains("cannot suspend: lamprey.tests.mode.Naps " + message), thread);
    }

    @Test
    void flags_with_the_library_for_exceptions() throws Throwable {
        isRefused(Mode.FLAGS, exceptions(), FLAGS);
    }

    @Test
    void exceptions_with_the_library_for_flags() throws Throwable {
        isRefused(Mode.EXCEPTIONS, flags(), EXCEPTIONS);
    }

    @Test
    void the_same_mode() throws Throwable {
        assertEquals("slept", new Loader(Mode.EXCEPTIONS, exceptions()).call("ended", new Class<?>[0]));
        assertEquals("slept", new Loader(Mode.FLAGS, flags()).call("ended", new Class<?>[0]));
    }

    @Test
    void a_body_that_a_runtime_runs() throws Throwable {
        Runnable body = (Runnable) new Loader(Mode.FLAGS, exceptions()).call("body", new Class<?>[0]);
        try (PicoRuntime r = PicoRuntime.builder().carriers(1).build()) {
            String message = assertThrows(IllegalStateException.class, () -> r.run(body)).getMessage();
            assertTrue(message.contains(FLAGS), message);
        }
    }
}
