package lamprey.tests;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import lamprey.transform.ClassPath;
import lamprey.transform.Mode;
import lamprey.transform.Options;
import lamprey.transform.Transformation;
import lamprey.transform.Transformer;

/**
 * The classes of one package of this module's tests, transformed as the Maven plugin does it, beside the plain ones: so a test can compare what both
 * do. The packages must not be transformed by the build.
 */
public final class Rewritten extends ClassLoader {
    private final Map<String, byte[]> classes;

    private Rewritten(Map<String, byte[]> classes) {
        super(Rewritten.class.getClassLoader());
        this.classes = classes;
    }

    /** A loader of the transformed form of all classes that are in the package of {@code member} and whose names do not end with Test. */
    public static Rewritten packageOf(Class<?> member) {
        return new Rewritten(transform(member));
    }

    /** The transformed form of a class. */
    public Class<?> get(Class<?> plain) {
        try {
            return loadClass(plain.getName());
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }

    /** The class files of that package after the transformation, by internal name. */
    public static Map<String, byte[]> transform(Class<?> member) {
        Map<String, byte[]> all = plain(member);
        try (ClassPath path = new ClassPath(classPath())) {
            Options options = new Options();
            options.mode = Mode.valueOf(System.getProperty("lamprey.tests.mode", "EXCEPTIONS"));
            Transformation done = new Transformer(options, path).transform(all);
            if (!done.refusals.isEmpty()) {
                throw new AssertionError("refused: " + done.refusals);
            }
            all.putAll(done.classes);
            return all;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<Path> classPath() {
        List<Path> entries = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(java.io.File.pathSeparator)) {
            Path p = Paths.get(entry);
            if (!p.endsWith("test-classes")) {
                entries.add(p);
            }
        }
        return entries;
    }

    private static Map<String, byte[]> plain(Class<?> member) {
        Map<String, byte[]> plain = new LinkedHashMap<>();
        try {
            Path folder = Paths.get(member.getResource(member.getSimpleName() + ".class").toURI()).getParent();
            try (Stream<Path> files = Files.list(folder)) {
                for (Path f : (Iterable<Path>) files.sorted()::iterator) {
                    String name = f.getFileName().toString();
                    if (name.endsWith(".class") && !name.contains("Test.") && !name.contains("Test$")) {
                        try (InputStream in = Files.newInputStream(f)) {
                            String internal = member.getPackage().getName().replace('.', '/') + "/" + name.substring(0, name.length() - 6);
                            plain.put(internal, Bytes.all(in));
                        }
                    }
                }
            }
        } catch (IOException | java.net.URISyntaxException e) {
            throw new AssertionError(e);
        }
        return plain;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            byte[] file = classes.get(name.replace('.', '/'));
            if (file == null) {
                return super.loadClass(name, resolve);
            }
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : defineClass(name, file, 0, file.length);
        }
    }
}
