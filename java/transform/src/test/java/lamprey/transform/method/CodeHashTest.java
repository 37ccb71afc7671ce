package lamprey.transform.method;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.function.Consumer;
import lamprey.transform.Calls;
import lamprey.transform.Mode;
import lamprey.transform.Woven;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/** A frame's serialVersionUID stands for the code that may resume it. */
class CodeHashTest implements Opcodes {
    private static final Calls STATIC_CALLS = new Calls() {
        @Override
        public boolean suspends(MethodNode method) {
            return true;
        }

        @Override
        public boolean suspends(MethodInsnNode call) {
            return call.name.equals("block");
        }

        @Override
        public String aliases(MethodNode method) {
            return "";
        }
    };

    /** The hash of {@code static int m(int a, int b)}: these instructions, then {@code return block(b) + a}. */
    private static long hash(int line, String callee, Consumer<MethodVisitor> first) {
        ClassWriter out = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        out.visit(V1_8, 0, "Hashed", null, "java/lang/Object", null);
        MethodVisitor m = out.visitMethod(ACC_STATIC, "m", "(II)I", null, null);
        m.visitCode();
        Label l = new Label();
        m.visitLabel(l);
        m.visitLineNumber(line, l);
        first.accept(m);
        m.visitVarInsn(ILOAD, 1);
        m.visitMethodInsn(INVOKESTATIC, callee, "block", "(I)I", false);
        m.visitVarInsn(ILOAD, 0);
        m.visitInsn(IADD);
        m.visitInsn(IRETURN);
        m.visitMaxs(0, 0);
        ClassNode type = new ClassNode();
        new ClassReader(out.toByteArray()).accept(type, ClassReader.EXPAND_FRAMES);
        Woven woven = ClassWeaver.weave(type, STATIC_CALLS, Mode.EXCEPTIONS);
        assertEquals("[Hashed$pico0]", woven.frames.keySet().toString());
        ClassNode frame = new ClassNode();
        new ClassReader(woven.frames.get("Hashed$pico0")).accept(frame, 0);
        FieldNode field = frame.fields.stream().filter(f -> f.name.equals("serialVersionUID")).findFirst().get();
        return (Long) field.value;
    }

    @Test
    void same_for_the_same_code_on_other_lines() {
        assertEquals(hash(1, "Other", m -> {}), hash(77, "Other", m -> {}));
    }

    @Test
    void another_for_other_code() {
        long hash = hash(1, "Other", m -> m.visitIincInsn(0, 1));
        assertNotEquals(hash, hash(1, "Other", m -> m.visitIincInsn(0, 2)));
        assertNotEquals(hash, hash(1, "Other", m -> m.visitIincInsn(1, 1)));
        assertNotEquals(hash, hash(1, "Another", m -> m.visitIincInsn(0, 1)));
        assertNotEquals(hash, hash(1, "Other", m -> {}));
    }
}
