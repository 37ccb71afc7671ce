package lamprey.tests.library;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import lamprey.tests.Bytes;
import lamprey.transform.ClassPath;
import lamprey.transform.Options;
import lamprey.transform.Transformation;
import lamprey.transform.Transformer;

/** Commons CSV with what it uses of Commons IO, its own tests, and {@link Program}, in a loader of their own: as they are, or transformed wholly. */
final class Library extends ClassLoader {
    private static final String[] PREFIXES = {"org.apache.commons.csv.", "org.apache.commons.io.", "lamprey.tests.library."};

    private final Map<String, byte[]> classes;
    /** What was done; null for the plain form. */
    final Transformation done;

    private Library(Map<String, byte[]> classes, Transformation done) {
        super(Library.class.getClassLoader());
        this.classes = classes;
        this.done = done;
    }

    static Library plain() throws IOException {
        return new Library(files(), null);
    }

    private static Library light;

    /** Once for all tests: that takes a while. */
    static synchronized Library transformed() throws IOException {
        if (light == null) {
            light = transform(files());
        }
        return light;
    }

    private static Library transform(Map<String, byte[]> files) throws IOException {
        List<Path> path = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(java.io.File.pathSeparator)) {
            path.add(Paths.get(entry));
        }
        Options options = new Options();
        options.everything = true;
        try (ClassPath source = new ClassPath(path)) {
            Transformation done = new Transformer(options, source).transform(files);
            if (!done.refusals.isEmpty()) {
                throw new AssertionError("refused: " + done.refusals);
            }
            files.putAll(done.classes);
            return new Library(files, done);
        }
    }

    /** Names of the classes that hold tests. */
    static List<String> tests() throws IOException {
        List<String> names = new ArrayList<>();
        for (String name : jar("org/apache/commons/csv/CSVParserTest.class").keySet()) {
            // Measures speed with a file that is not in the archive.
            if (name.endsWith("Test") && !name.endsWith("PerformanceTest")) {
                names.add(name.replace('/', '.'));
            }
        }
        Collections.sort(names);
        return names;
    }

    private static Map<String, byte[]> files() throws IOException {
        Map<String, byte[]> all = new LinkedHashMap<>();
        all.putAll(jar("org/apache/commons/csv/CSVParser.class"));
        all.putAll(jar("org/apache/commons/io/IOUtils.class"));
        for (Class<?> own : new Class<?>[] {Program.class, Pause.class, PausingReader.class, PausingWriter.class}) {
            String name = own.getName().replace('.', '/');
            try (InputStream in = Library.class.getClassLoader().getResourceAsStream(name + ".class")) {
                all.put(name, Bytes.all(in));
            }
        }
        return all;
    }

    /** The classes of the archive that holds a file. */
    private static Map<String, byte[]> jar(String holds) throws IOException {
        String url = Library.class.getClassLoader().getResource(holds).toString();
        Map<String, byte[]> all = new LinkedHashMap<>();
        try (JarFile jar = new JarFile(Paths.get(java.net.URI.create(url.substring(4, url.indexOf('!')))).toFile())) {
            for (JarEntry e : Collections.list(jar.entries())) {
                String name = e.getName();
                if (name.endsWith(".class") && !name.contains("module-info") && !name.startsWith("META-INF")) {
                    all.put(name.substring(0, name.length() - 6), Bytes.all(jar.getInputStream(e)));
                }
            }
        }
        return all;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> c = findLoadedClass(name);
            if (c != null || !isOwn(name)) {
                return c != null ? c : super.loadClass(name, resolve);
            }
            byte[] file = classes.get(name.replace('.', '/'));
            if (file == null) {
                file = fromParent(name); // The tests.
            }
            return defineClass(name, file, 0, file.length);
        }
    }

    private static boolean isOwn(String name) {
        for (String prefix : PREFIXES) {
            if (name.startsWith(prefix)) {
                return true;
            }
        }
        return false;
    }

    private byte[] fromParent(String name) throws ClassNotFoundException {
        try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            return Bytes.all(in);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }
}
