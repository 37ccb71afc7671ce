package lamprey.tests.random;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import lamprey.tests.Bytes;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Opcodes;

/** Loads the runtime, the weaver and these tests once more, with a runtime that suspends by flags: a program has one mode as a whole. */
final class Isolated extends ClassLoader {
    private static final String PROBE = "lamprey.instrument.Probe";
    private static final String MODE = "Llamprey/instrument/Transformed;";

    Isolated() {
        super(Isolated.class.getClassLoader());
    }

    /** Calls a public static method with strings as parameters and result. */
    String call(String type, String method, String... arguments) throws Exception {
        Class<?>[] types = new Class<?>[arguments.length];
        java.util.Arrays.fill(types, String.class);
        try {
            return (String) loadClass(type).getMethod(method, types).invoke(null, (Object[]) arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() instanceof Exception ? (Exception) e.getCause() : e;
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> c = findLoadedClass(name);
            if (c == null && name.startsWith("lamprey.")) {
                byte[] file = read(name);
                c = defineClass(name, file, 0, file.length);
            }
            return c != null ? c : super.loadClass(name, resolve);
        }
    }

    private byte[] read(String name) throws ClassNotFoundException {
        try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] file = Bytes.all(in);
            return name.equals(PROBE) ? withFlags(file) : file;
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private static byte[] withFlags(byte[] file) {
        ClassWriter out = new ClassWriter(0);
        new ClassReader(file).accept(new ClassVisitor(Opcodes.ASM9, out) {
            @Override
            public AnnotationVisitor visitAnnotation(String desc, boolean visible) {
                return desc.equals(MODE) ? null : super.visitAnnotation(desc, visible);
            }

            @Override
            public void visitEnd() {
                AnnotationVisitor a = super.visitAnnotation(MODE, true);
                a.visit("value", "flags");
                a.visitEnd();
                super.visitEnd();
            }
        }, 0);
        return out.toByteArray();
    }
}
