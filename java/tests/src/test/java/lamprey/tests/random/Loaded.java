package lamprey.tests.random;

import java.util.Map;

/** The classes of a program in a loader of their own. */
final class Loaded extends ClassLoader {
    private final Map<String, byte[]> files;

    private Loaded(Map<String, byte[]> files) {
        super(Loaded.class.getClassLoader());
        this.files = files;
    }

    /** Loads all, so that each is verified, also what no run reaches. */
    static Entry load(Map<String, byte[]> files) {
        Loaded loader = new Loaded(files);
        try {
            for (String name : files.keySet()) {
                Class.forName(name.replace('/', '.'), true, loader);
            }
            return (Entry) loader.loadClass(Program.GO.replace('/', '.')).getConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("cannot load a generated program", e);
        }
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        byte[] file = files.get(name.replace('.', '/'));
        if (file == null) {
            throw new ClassNotFoundException(name);
        }
        return defineClass(name, file, 0, file.length);
    }
}
