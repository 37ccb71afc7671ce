package lamprey.tests.weave;

import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.IntPredicate;
import lamprey.tests.Bytes;
import lamprey.transform.Calls;
import lamprey.transform.Mode;
import lamprey.transform.Woven;
import lamprey.transform.method.ClassWeaver;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/** Loads classes of the tests transformed, each call of them a site, together with a runtime of their own that is in the same mode. */
final class Isolated extends ClassLoader implements Calls {
    static final String SAMPLES = "lamprey/tests/weave/samples/";
    private final Mode mode;
    /** Null for classes as they are. */
    private final boolean weaves;
    private final Map<String, byte[]> given = new HashMap<>();

    Isolated(Mode mode) {
        super(Isolated.class.getClassLoader());
        this.mode = mode;
        weaves = mode != null;
    }

    /** A class that is on no class path, not transformed yet; its name begins with that of {@link #SAMPLES}. */
    Isolated with(String name, byte[] classFile) {
        given.put(name, classFile);
        return this;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> c = findLoadedClass(name);
            if (c != null) {
                return c;
            }
            String internal = name.replace('.', '/');
            boolean own = internal.startsWith(SAMPLES) || internal.startsWith("lamprey/tests/weave/run/") || internal.startsWith("lamprey/instrument/");
            return own ? define(name, internal) : super.loadClass(name, resolve);
        }
    }

    private Class<?> define(String name, String internal) throws ClassNotFoundException {
        byte[] b = given.get(internal);
        if (b == null) {
            try (InputStream in = getParent().getResourceAsStream(internal + ".class")) {
                if (in == null) {
                    throw new ClassNotFoundException(name);
                }
                b = Bytes.all(in);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
        if (weaves && internal.startsWith(SAMPLES) && !internal.contains("$pico")) {
            b = weave(b);
        } else if (mode == Mode.FLAGS && internal.equals("lamprey/instrument/Probe")) {
            b = annotated(b);
        }
        return defineClass(name, b, 0, b.length);
    }

    private byte[] weave(byte[] plain) {
        ClassNode type = new ClassNode();
        new ClassReader(plain).accept(type, ClassReader.EXPAND_FRAMES);
        Woven woven = ClassWeaver.weave(type, this, mode);
        if (!woven.refusals.isEmpty()) {
            throw new IllegalArgumentException(woven.refusals.toString());
        }
        given.putAll(woven.frames);
        return woven.classFile;
    }

    private static byte[] annotated(byte[] probe) {
        ClassNode type = new ClassNode();
        new ClassReader(probe).accept(type, 0);
        type.visibleAnnotations = null;
        type.visitAnnotation("Llamprey/instrument/Transformed;", true).visit("value", "flags");
        ClassWriter out = new ClassWriter(0);
        type.accept(out);
        return out.toByteArray();
    }

    @Override
    public boolean suspends(MethodNode method) {
        return !method.name.equals("<clinit>") && !method.name.equals("toString") && !method.name.equals("log");
    }

    @Override
    public boolean suspends(MethodInsnNode call) {
        boolean primitive = call.owner.equals("lamprey/tests/weave/run/Y");
        return primitive || call.owner.startsWith(SAMPLES) && !call.name.equals("toString") && !call.name.equals("log");
    }

    @Override
    public String aliases(MethodNode method) {
        return method.name.startsWith("lambda$") ? "area(J)J apply(Ljava/lang/Object;)Ljava/lang/Object; accept(Ljava/lang/Object;)V" : "";
    }

    Runnable sample(String name) throws ReflectiveOperationException {
        return (Runnable) loadClass((SAMPLES + name).replace('/', '.')).getConstructor().newInstance();
    }

    @SuppressWarnings("unchecked")
    BiFunction<Runnable, IntPredicate, Integer> driver() throws ReflectiveOperationException {
        return (BiFunction<Runnable, IntPredicate, Integer>) loadClass("lamprey.tests.weave.run.Driver").getConstructor().newInstance();
    }
}
