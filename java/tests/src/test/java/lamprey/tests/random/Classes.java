package lamprey.tests.random;

import java.util.LinkedHashMap;
import java.util.Map;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Writes a program as class files. */
final class Classes implements Opcodes {
    private final Program program;
    private final int[] features;
    private final Map<String, ClassWriter> writers = new LinkedHashMap<>();

    private Classes(Program program, int[] features) {
        this.program = program;
        this.features = features;
    }

    static Map<String, byte[]> write(Program program, int[] features) {
        return new Classes(program, features).all();
    }

    /** Knows the generated classes; for the others the JVM is asked. */
    private static final class Writer extends ClassWriter {
        Writer() {
            super(COMPUTE_FRAMES);
        }

        private static int depth(String type) {
            return type.equals(Program.B) ? 1 : type.equals(Program.S) ? 2 : type.equals(Program.U) ? 3 : 0;
        }

        @Override
        protected String getCommonSuperClass(String a, String b) {
            if (depth(a) > 0 && depth(b) > 0) {
                return depth(a) < depth(b) ? a : b;
            }
            return a.startsWith("gen/") || b.startsWith("gen/") ? "java/lang/Object" : super.getCommonSuperClass(a, b);
        }

        @Override
        protected ClassLoader getClassLoader() {
            return Classes.class.getClassLoader();
        }
    }

    private Map<String, byte[]> all() {
        begin(Program.I, ACC_PUBLIC | ACC_INTERFACE | ACC_ABSTRACT, "java/lang/Object");
        begin(Program.B, ACC_PUBLIC | ACC_SUPER, "java/lang/Object", Program.I);
        begin(Program.S, ACC_PUBLIC | ACC_SUPER, Program.B);
        begin(Program.U, ACC_PUBLIC | ACC_SUPER, Program.S);
        begin(Program.G, ACC_PUBLIC | ACC_SUPER, "java/lang/Object");
        begin(Program.GO, ACC_PUBLIC | ACC_SUPER, "java/lang/Object", "lamprey/tests/random/Entry");
        fields();
        emptyConstructor(Program.B, "java/lang/Object");
        emptyConstructor(Program.S, Program.B);
        emptyConstructor(Program.U, Program.S);
        for (Meth m : program.methods) {
            method(m);
        }
        new EntryClass(program, writers.get(Program.GO)).write();
        Map<String, byte[]> files = new LinkedHashMap<>();
        writers.forEach((name, w) -> {
            w.visitEnd();
            files.put(name, w.toByteArray());
        });
        return files;
    }

    private void begin(String name, int access, String superName, String... interfaces) {
        ClassWriter w = new Writer();
        w.visit(V1_8, access, name, null, superName, interfaces);
        w.visitSource(name.substring(4) + ".gen", null);
        writers.put(name, w);
    }

    private void fields() {
        for (Kind k : Program.fields()) {
            writers.get(Program.B).visitField(ACC_PUBLIC, Program.field(k), k.desc, null, null);
            writers.get(Program.G).visitField(ACC_PUBLIC | ACC_STATIC, Program.field(k), k.desc, null, null);
        }
        writers.get(Program.B).visitField(ACC_PUBLIC | ACC_FINAL, "last", "J", null, null);
    }

    /** A constructor without parameters, which never suspends. */
    private void emptyConstructor(String type, String superType) {
        MethodVisitor v = writers.get(type).visitMethod(ACC_PUBLIC, "<init>", "()V", null, null);
        v.visitCode();
        v.visitVarInsn(ALOAD, 0);
        v.visitMethodInsn(INVOKESPECIAL, superType, "<init>", "()V", false);
        if (type.equals(Program.B)) {
            v.visitVarInsn(ALOAD, 0);
            v.visitInsn(LCONST_1);
            v.visitFieldInsn(PUTFIELD, Program.B, "last", "J");
        }
        v.visitInsn(RETURN);
        v.visitMaxs(0, 0);
        v.visitEnd();
    }

    private void method(Meth m) {
        MethodVisitor out = writers.get(m.owner).visitMethod(m.access(), m.name, m.desc(), null, null);
        Emit e = new Emit(m, out, features);
        e.visitCode();
        e.where = place(m);
        Label line = new Label();
        e.visitLabel(line);
        e.visitLineNumber(m.id + 1, line);
        if (m.role == Meth.Role.CONSTRUCTOR) {
            construct(m, e);
        }
        Label go = new Label();
        e.constant(m.id);
        e.world("enter", "(I)Z");
        e.visitJumpInsn(IFNE, go);
        returnField(m, e);
        e.label(go);
        e.block(m.body);
        if (e.reachable) {
            returnField(m, e);
        }
        e.visitMaxs(0, 0);
        e.visitEnd();
    }

    /** Returns what a static field holds: rarely null, so that the caller goes on. */
    private static void returnField(Meth m, Emit e) {
        if (m.result == Kind.GRID) {
            e.visitInsn(ACONST_NULL);
        } else if (m.result != Kind.VOID) {
            e.visitFieldInsn(GETSTATIC, Program.G, Program.field(m.result), m.result.stack().desc);
            e.narrow(m.result);
        }
        e.visitInsn(m.result.op(IRETURN));
    }

    /** The call of another constructor; in that of the base class, the final field. */
    private static void construct(Meth m, Emit e) {
        e.visitVarInsn(ALOAD, 0);
        if (m.delegate == null) {
            e.visitMethodInsn(INVOKESPECIAL, "java/lang/Object", "<init>", "()V", false);
            e.use(Feature.FINAL_FIELD);
            e.visitVarInsn(ALOAD, 0);
            e.visitLdcInsn((long) m.id);
            e.primitive("yl", "(JI)J");
            e.visitFieldInsn(PUTFIELD, Program.B, "last", "J");
            return;
        }
        for (int i = 0; i < m.delegated.length; i++) {
            e.push(m.delegated[i]);
            e.narrow(m.delegate.params[i]);
        }
        e.use(m.delegate.owner.equals(m.owner) ? Feature.THIS_CONSTRUCTOR : Feature.SUPER_CONSTRUCTOR);
        e.visitMethodInsn(INVOKESPECIAL, m.delegate.owner, "<init>", m.delegate.desc(), false);
    }

    private static int place(Meth m) {
        switch (m.role) {
            case CONSTRUCTOR:
                return (m.owner.equals(Program.B) ? Where.CONSTRUCTOR : Where.CONSTRUCTOR_SUBCLASS).bit();
            case VIRTUAL:
                return Where.VIRTUAL.bit();
            case PRIVATE:
                return Where.PRIVATE.bit();
            case DEFAULT:
                return Where.DEFAULT.bit();
            case INTERFACE_STATIC:
                return Where.INTERFACE_STATIC.bit();
            case LAMBDA:
                return Where.LAMBDA.bit();
            default:
                return Where.STATIC.bit();
        }
    }
}
