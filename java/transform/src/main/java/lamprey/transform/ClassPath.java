package lamprey.transform;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/** The class files of jars and folders. An entry that does not exist is ignored, as the JVM does; one that is no jar is an error. */
public final class ClassPath implements ClassSource, Closeable {
    private static final byte[] MARK = "lamprey/instrument/".getBytes(StandardCharsets.US_ASCII);

    private final List<Path> folders = new ArrayList<>();
    private final List<JarFile> jars = new ArrayList<>();

    /** Opens the jars. */
    public ClassPath(List<Path> entries) throws IOException {
        for (Path entry : entries) {
            if (Files.isDirectory(entry)) {
                folders.add(entry);
            } else if (Files.exists(entry)) {
                open(entry);
            }
        }
    }

    private void open(Path jar) throws IOException {
        try {
            jars.add(new JarFile(jar.toFile(), false));
        } catch (IOException e) {
            close();
            throw new IOException("cannot read " + jar + " of the class path as a jar: " + e.getMessage(), e);
        }
    }

    @Override
    public byte[] find(String internalName) {
        List<byte[]> found = read(internalName + ".class", true);
        return found.isEmpty() ? null : found.get(0);
    }

    @Override
    public List<String> resources(String path) {
        List<String> texts = new ArrayList<>();
        for (byte[] bytes : read(path, false)) {
            texts.add(new String(bytes, StandardCharsets.UTF_8));
        }
        return texts;
    }

    private List<byte[]> read(String path, boolean first) {
        List<byte[]> found = new ArrayList<>();
        try {
            for (Path folder : folders) {
                Path file = folder.resolve(path);
                if ((found.isEmpty() || !first) && Files.isRegularFile(file)) {
                    found.add(Files.readAllBytes(file));
                }
            }
            for (JarFile jar : jars) {
                JarEntry entry = jar.getJarEntry(path);
                if ((found.isEmpty() || !first) && entry != null) {
                    found.add(content(jar, entry));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + path + " of the class path", e);
        }
        return found;
    }

    @Override
    public List<byte[]> marked() {
        List<byte[]> marked = new ArrayList<>();
        try {
            for (Path folder : folders) {
                markedIn(folder, marked);
            }
            for (JarFile jar : jars) {
                for (Enumeration<JarEntry> e = jar.entries(); e.hasMoreElements(); ) {
                    JarEntry entry = e.nextElement();
                    if (entry.getName().endsWith(".class") && !entry.getName().startsWith("META-INF/")) {
                        addIfMarked(content(jar, entry), marked);
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the class path", e);
        }
        return marked;
    }

    private static void markedIn(Path folder, List<byte[]> marked) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                if (file.getFileName().toString().endsWith(".class") && !folder.relativize(file).startsWith("META-INF")) {
                    addIfMarked(Files.readAllBytes(file), marked);
                }
            }
        }
    }

    private static void addIfMarked(byte[] classFile, List<byte[]> marked) {
        if (contains(classFile, MARK)) {
            marked.add(classFile);
        }
    }

    private static boolean contains(byte[] text, byte[] word) {
        for (int i = 0; i + word.length <= text.length; i++) {
            int k = 0;
            while (k < word.length && text[i + k] == word[k]) {
                k++;
            }
            if (k == word.length) {
                return true;
            }
        }
        return false;
    }

    private static byte[] content(JarFile jar, JarEntry entry) throws IOException {
        try (InputStream in = jar.getInputStream(entry)) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] buffer = new byte[8192];
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                out.write(buffer, 0, n);
            }
            return out.toByteArray();
        }
    }

    @Override
    public void close() throws IOException {
        for (JarFile jar : jars) {
            jar.close();
        }
    }
}
