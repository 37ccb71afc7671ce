package lamprey.tests.random;

import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Writes {@code gen.Go}, which calls each method of a program with fixed arguments and records its result. */
final class EntryClass implements Opcodes {
    private final Program program;
    private final ClassWriter out;

    EntryClass(Program program, ClassWriter out) {
        this.program = program;
        this.out = out;
    }

    /** A private method and a lambda's body are called by others only. */
    static boolean callable(Meth m) {
        return m.role != Meth.Role.PRIVATE && m.role != Meth.Role.LAMBDA;
    }

    void write() {
        out.visitField(ACC_PUBLIC, "method", "I", null, null);
        MethodVisitor v = begin("<init>", "()V");
        v.visitVarInsn(ALOAD, 0);
        v.visitMethodInsn(INVOKESPECIAL, "java/lang/Object", "<init>", "()V", false);
        end(v);
        v = begin("select", "(I)V");
        v.visitVarInsn(ALOAD, 0);
        v.visitVarInsn(ILOAD, 1);
        v.visitFieldInsn(PUTFIELD, Program.GO, "method", "I");
        end(v);
        v = begin("reset", "()V");
        for (Kind k : Program.fields()) {
            argument(v, k, 5);
            v.visitFieldInsn(PUTSTATIC, Program.G, Program.field(k), k.desc);
        }
        end(v);
        run();
    }

    private MethodVisitor begin(String name, String desc) {
        MethodVisitor v = out.visitMethod(ACC_PUBLIC, name, desc, null, null);
        v.visitCode();
        return v;
    }

    private static void end(MethodVisitor v) {
        v.visitInsn(RETURN);
        v.visitMaxs(0, 0);
        v.visitEnd();
    }

    private void run() {
        MethodVisitor v = begin("run", "()V");
        Label[] labels = new Label[program.methods.size()];
        for (int i = 0; i < labels.length; i++) {
            labels[i] = new Label();
        }
        Label none = new Label();
        v.visitVarInsn(ALOAD, 0);
        v.visitFieldInsn(GETFIELD, Program.GO, "method", "I");
        v.visitTableSwitchInsn(0, labels.length - 1, none, labels);
        for (int i = 0; i < labels.length; i++) {
            v.visitLabel(labels[i]);
            Meth m = program.methods.get(i);
            if (callable(m)) {
                call(v, m);
            }
            v.visitInsn(RETURN);
        }
        v.visitLabel(none);
        end(v);
    }

    private static void call(MethodVisitor v, Meth m) {
        boolean constructor = m.role == Meth.Role.CONSTRUCTOR;
        if (constructor) {
            v.visitTypeInsn(NEW, m.owner);
            v.visitInsn(DUP);
        } else if (!m.isStatic()) {
            receiver(v, m.inInterface() ? m.id % 2 == 0 ? Program.B : Program.U : m.owner);
        }
        for (int i = 0; i < m.params.length; i++) {
            argument(v, m.params[i], m.id + i);
        }
        v.visitMethodInsn(m.callOpcode(), m.owner, m.name, m.desc(), m.inInterface());
        Kind result = constructor ? Kind.BASE : m.result;
        if (result != Kind.VOID) {
            v.visitMethodInsn(INVOKESTATIC, Emit.WORLD, "t", result.isReference() ? "(Ljava/lang/Object;)V" : "(" + result.stack().desc + ")V", false);
        }
    }

    private static void receiver(MethodVisitor v, String type) {
        v.visitTypeInsn(NEW, type);
        v.visitInsn(DUP);
        v.visitMethodInsn(INVOKESPECIAL, type, "<init>", "()V", false);
    }

    private static void argument(MethodVisitor v, Kind k, int salt) {
        switch (k) {
            case INT:
            case SHORT:
            case CHAR:
            case BYTE:
                v.visitIntInsn(BIPUSH, salt % 100);
                break;
            case BOOL:
                v.visitInsn(ICONST_1);
                break;
            case LONG:
                v.visitLdcInsn(1L << salt % 60);
                break;
            case FLOAT:
                v.visitLdcInsn(salt + 0.5f);
                break;
            case DOUBLE:
                v.visitLdcInsn(salt / 4d);
                break;
            case STRING:
            case OBJECT:
                v.visitLdcInsn("argument " + salt);
                break;
            case INTS:
                v.visitInsn(ICONST_4);
                v.visitIntInsn(NEWARRAY, T_INT);
                break;
            case LONGS:
                v.visitInsn(ICONST_3);
                v.visitIntInsn(NEWARRAY, T_LONG);
                break;
            case OBJECTS:
                v.visitInsn(ICONST_4);
                v.visitTypeInsn(ANEWARRAY, "java/lang/Object");
                break;
            case GRID:
                v.visitInsn(ICONST_2);
                v.visitInsn(ICONST_4);
                v.visitMultiANewArrayInsn("[[I", 2);
                break;
            default:
                receiver(v, Program.B);
        }
    }
}
