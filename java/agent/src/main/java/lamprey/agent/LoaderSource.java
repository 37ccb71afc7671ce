package lamprey.agent;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import lamprey.transform.ClassPath;
import lamprey.transform.ClassSource;

/** What a class loader can find, as resources. Classes with marks are looked for on the class path of the JVM, and in the jars of the loader. */
final class LoaderSource implements ClassSource {
    private final WeakReference<ClassLoader> loader;
    private List<byte[]> marked;

    LoaderSource(ClassLoader loader) {
        this.loader = new WeakReference<>(loader);
    }

    @Override
    public byte[] find(String internalName) {
        ClassLoader l = loader.get();
        try (InputStream in = l == null ? null : l.getResourceAsStream(internalName + ".class")) {
            return in == null ? null : read(in);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the class file of " + internalName, e);
        }
    }

    private static byte[] read(InputStream in) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] buffer = new byte[8192];
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
            out.write(buffer, 0, n);
        }
        return out.toByteArray();
    }

    @Override
    public List<String> resources(String path) {
        ClassLoader l = loader.get();
        List<String> texts = new ArrayList<>();
        try {
            for (Enumeration<URL> found = l == null ? Collections.emptyEnumeration() : l.getResources(path); found.hasMoreElements(); ) {
                try (InputStream in = found.nextElement().openStream()) {
                    texts.add(new String(read(in), StandardCharsets.UTF_8));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + path, e);
        }
        return texts;
    }

    @Override
    public synchronized List<byte[]> marked() {
        if (marked == null) {
            try (ClassPath path = new ClassPath(entries())) {
                marked = path.marked();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return marked;
    }

    private List<Path> entries() {
        List<Path> entries = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path", "").split(File.pathSeparator)) {
            if (!entry.isEmpty()) {
                entries.add(Paths.get(entry));
            }
        }
        for (ClassLoader l = loader.get(); l != null; l = l.getParent()) {
            if (l instanceof URLClassLoader) {
                for (URL url : ((URLClassLoader) l).getURLs()) {
                    addIfFile(url, entries);
                }
            }
        }
        return entries;
    }

    private static void addIfFile(URL url, List<Path> entries) {
        try {
            if ("file".equals(url.getProtocol())) {
                entries.add(Paths.get(url.toURI()));
            }
        } catch (URISyntaxException e) {
            System.err.println("lamprey-agent: the entry " + url + " of a class loader is not looked at: " + e.getMessage());
        }
    }
}
