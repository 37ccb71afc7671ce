package lamprey.transform.folder;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lamprey.transform.ClassPath;
import lamprey.transform.Names;
import lamprey.transform.Options;
import lamprey.transform.Refusal;
import lamprey.transform.Transformation;
import lamprey.transform.Transformer;
import lamprey.transform.types.TypeInfo;
import org.objectweb.asm.Opcodes;

/**
 * Transforms a folder of class files, in place or into another one.
 *
 * <p>The compiler's class files are kept in a third folder. When one source is compiled again, what is known of the others may change, so all are
 * transformed again, from these. Invariant: a class file of the folder that has {@code @Transformed} is represented by its kept original, if
 * there is one; one that has not is itself the original. A generated class file belongs to the class it was generated for, and goes the way of that: if it is
 * transformed anew, so is this; if it stays as it is, as it had been transformed and no original is kept, this does, too.
 *
 * <p>If anything is refused, nothing is written.
 */
public final class ClassFolder {
    private final Path in;
    private final Path out;
    private final Path originals;
    /** By internal name, as the compiler made them. */
    private final Map<String, byte[]> classes = new LinkedHashMap<>();
    private final Map<String, byte[]> fresh = new LinkedHashMap<>();
    private final Map<Path, byte[]> generated = new LinkedHashMap<>();
    /** Names of those that had been transformed, and whose originals are not known. */
    private final Set<String> settled = new LinkedHashSet<>();
    private final Set<Path> others = new LinkedHashSet<>();

    private ClassFolder(Path in, Path out, Path originals) {
        this.in = in;
        this.out = out;
        this.originals = originals;
    }

    /**
     * Transforms.
     *
     * @param originals where the compiler's class files are kept
     * @param leaveRefused whether classes that are refused are left as they are; their refusals are in the result all the same
     */
    public static Transformation transform(Path in, Path out, Path originals, List<Path> classPath, Options options, boolean leaveRefused)
        throws IOException {
        ClassFolder folder = new ClassFolder(in, out, originals);
        folder.read();
        try (ClassPath source = new ClassPath(classPath)) {
            Transformation result = new Transformer(options, source).transform(folder.classes);
            if (result.refusals.isEmpty()) {
                folder.write(result);
            } else if (leaveRefused) {
                result = folder.withoutRefused(result, source, options);
                folder.write(result);
            }
            return result;
        }
    }

    private Transformation withoutRefused(Transformation first, ClassPath source, Options options) {
        Set<Refusal> all = new LinkedHashSet<>(first.refusals);
        Transformation next = first;
        while (!next.refusals.isEmpty()) {
            int excluded = options.excludes.size();
            for (Refusal r : next.refusals) {
                if (!options.excludes.contains(r.type)) {
                    options.excludes.add(r.type);
                }
            }
            if (options.excludes.size() == excluded) {
                throw new IllegalArgumentException("refused although excluded: " + next.refusals);
            }
            next = new Transformer(options, source).transform(classes);
            all.addAll(next.refusals);
        }
        next.refusals.addAll(all);
        return next;
    }

    private void read() throws IOException {
        Files.walkFileTree(in, new SimpleFileVisitor<Path>() {
            @Override
            public FileVisitResult preVisitDirectory(Path dir, BasicFileAttributes a) {
                boolean other = dir.equals(originals) || dir.equals(out) && !out.equals(in);
                return other ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes a) throws IOException {
                if (file.getFileName().toString().endsWith(".class") && !in.relativize(file).startsWith("META-INF")) {
                    readClass(file);
                } else {
                    others.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private void readClass(Path file) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        TypeInfo t;
        try {
            t = TypeInfo.of(bytes);
        } catch (RuntimeException e) {
            throw new IOException(file + " is no class file that can be read: " + e, e);
        }
        boolean frame = Names.FRAME.equals(t.superName) && (t.access & Opcodes.ACC_SYNTHETIC) != 0;
        if (frame || t.mode != null && t.name.endsWith(Names.MAIN_CLASS)) {
            generated.put(in.relativize(file), bytes);
            return;
        }
        Path original = originals.resolve(t.name + ".class");
        if (t.mode != null && Files.exists(original)) {
            bytes = Files.readAllBytes(original);
        } else if (t.mode == null) {
            fresh.put(t.name, bytes);
        } else {
            settled.add(t.name);
        }
        classes.put(t.name, bytes);
    }

    private void write(Transformation result) throws IOException {
        for (Map.Entry<String, byte[]> c : fresh.entrySet()) {
            if (result.classes.containsKey(c.getKey())) {
                write(originals.resolve(c.getKey() + ".class"), c.getValue());
            }
        }
        Map<String, byte[]> all = new LinkedHashMap<>(classes);
        all.putAll(result.classes);
        for (Map.Entry<String, byte[]> c : all.entrySet()) {
            write(out.resolve(c.getKey() + ".class"), c.getValue());
        }
        for (Map.Entry<Path, byte[]> g : generated.entrySet()) {
            String file = g.getKey().toString().replace('\\', '/');
            String name = file.substring(0, file.length() - ".class".length());
            if (settled.contains(Names.generatedFor(name))) {
                write(out.resolve(g.getKey()), g.getValue());
            } else if (!all.containsKey(name)) {
                Files.deleteIfExists(out.resolve(g.getKey()));
            }
        }
        if (!out.equals(in)) {
            for (Path other : others) {
                write(out.resolve(in.relativize(other)), Files.readAllBytes(other));
            }
        }
    }

    private static void write(Path file, byte[] bytes) throws IOException {
        if (Files.exists(file) && Arrays.equals(Files.readAllBytes(file), bytes)) {
            return;
        }
        Files.createDirectories(file.getParent());
        Files.write(file, bytes);
    }
}
