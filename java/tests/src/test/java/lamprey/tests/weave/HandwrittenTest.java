package lamprey.tests.weave;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.Consumer;
import lamprey.tests.Jdks;
import lamprey.transform.Mode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Code that no Java compiler writes, or that is not supported. */
@Timeout(240)
class HandwrittenTest implements Opcodes {
    private static final String NAME = Isolated.SAMPLES + "Handwritten";
    private static final String SAMPLE = Isolated.SAMPLES + "Sample";
    private static final String OBJECT = "java/lang/Object";

    /** A Sample with this method {@code test}. */
    private static byte[] sample(int version, Consumer<MethodVisitor> test) {
        ClassWriter out = new ClassWriter(ClassWriter.COMPUTE_FRAMES) {
            @Override
            protected String getCommonSuperClass(String a, String b) {
                return OBJECT;
            }
        };
        out.visit(version, ACC_PUBLIC, NAME, null, SAMPLE, null);
        MethodVisitor m = out.visitMethod(ACC_PUBLIC, "<init>", "()V", null, null);
        m.visitCode();
        m.visitVarInsn(ALOAD, 0);
        m.visitMethodInsn(INVOKESPECIAL, SAMPLE, "<init>", "()V", false);
        m.visitInsn(RETURN);
        m.visitMaxs(0, 0);
        m = out.visitMethod(0, "test", "()Ljava/lang/Object;", null, null);
        m.visitCode();
        test.accept(m);
        m.visitMaxs(0, 0);
        out.visitEnd();
        return out.toByteArray();
    }

    private static void check(Consumer<MethodVisitor> test) throws Exception {
        SamplesTest.check("Handwritten", () -> {
            byte[] b = sample(V1_8, test);
            return mode -> new Isolated(mode).with(NAME, b);
        });
    }

    private static void refused(String message, Consumer<MethodVisitor> test) {
        byte[] b = sample(V1_8, test);
        for (Mode mode : Mode.values()) {
            Exception e = assertThrows(IllegalArgumentException.class, () -> new Isolated(mode).with(NAME, b).sample("Handwritten"));
            assertTrue(e.getMessage().contains(message) && e.getMessage().contains("lamprey.tests.weave.samples.Handwritten.test"), e.getMessage());
        }
    }

    private static void call(MethodVisitor m, String name, String desc) {
        m.visitMethodInsn(INVOKESTATIC, SAMPLE, name, desc, false);
    }

    private static void text(MethodVisitor m) {
        m.visitMethodInsn(INVOKESTATIC, "java/lang/String", "valueOf", "(Ljava/lang/Object;)Ljava/lang/String;", false);
        m.visitInsn(ARETURN);
    }

    /** Throws from y, and has a site with the exception as its operand as the first instruction of the handler, which covers itself. */
    @Test
    void site_at_the_start_of_a_handler() throws Exception {
        check(m -> {
            Label start = new Label();
            Label handler = new Label();
            Label end = new Label();
            m.visitTryCatchBlock(start, handler, handler, null);
            m.visitTryCatchBlock(handler, end, handler, null);
            m.visitLabel(start);
            m.visitTypeInsn(NEW, "java/lang/IllegalStateException");
            m.visitInsn(DUP);
            m.visitLdcInsn("thrown");
            call(m, "s", "(Ljava/lang/String;)Ljava/lang/String;");
            m.visitMethodInsn(INVOKESPECIAL, "java/lang/IllegalStateException", "<init>", "(Ljava/lang/String;)V", false);
            m.visitMethodInsn(INVOKESTATIC, "lamprey/tests/weave/run/Y", "fail", "(Ljava/lang/RuntimeException;)V", false);
            m.visitInsn(ACONST_NULL);
            m.visitInsn(ARETURN);
            m.visitLabel(handler);
            m.visitMethodInsn(INVOKESTATIC, "lamprey/tests/weave/run/Y", "y", "(Ljava/lang/Object;)Ljava/lang/Object;", false);
            m.visitLabel(end);
            text(m);
        });
    }

    @Test
    void results_that_are_dropped_and_operands_of_two_words() throws Exception {
        check(m -> {
            m.visitLdcInsn(1L);
            m.visitLdcInsn(2.0);
            m.visitLdcInsn(3L);
            call(m, "l", "(J)J");
            m.visitInsn(POP2);
            m.visitInsn(ICONST_1);
            call(m, "i", "(I)I");
            m.visitInsn(POP);
            m.visitInsn(DUP2_X2);
            m.visitInsn(ACONST_NULL);
            call(m, "v", "(Ljava/lang/Object;)V");
            m.visitInsn(D2L);
            m.visitInsn(LADD);
            m.visitInsn(L2D);
            m.visitInsn(DADD);
            call(m, "d", "(D)D");
            m.visitMethodInsn(INVOKESTATIC, "java/lang/Double", "valueOf", "(D)Ljava/lang/Double;", false);
            m.visitInsn(ARETURN);
        });
    }

    /** A loop whose head has an operand on the stack, and a NEW whose constructor's argument is a loop. */
    @Test
    void backward_branch_with_operands_and_an_uninitialised_object() throws Exception {
        check(m -> {
            Label head = new Label();
            Label end = new Label();
            m.visitTypeInsn(NEW, "java/lang/StringBuilder");
            m.visitInsn(DUP);
            m.visitLdcInsn("n");
            m.visitInsn(ICONST_0);
            m.visitVarInsn(ISTORE, 1);
            m.visitLabel(head);
            m.visitVarInsn(ILOAD, 1);
            m.visitInsn(ICONST_3);
            m.visitJumpInsn(IF_ICMPGE, end);
            call(m, "s", "(Ljava/lang/String;)Ljava/lang/String;");
            m.visitLdcInsn("+");
            m.visitMethodInsn(INVOKEVIRTUAL, "java/lang/String", "concat", "(Ljava/lang/String;)Ljava/lang/String;", false);
            m.visitIincInsn(1, 1);
            m.visitJumpInsn(GOTO, head);
            m.visitLabel(end);
            m.visitMethodInsn(INVOKESPECIAL, "java/lang/StringBuilder", "<init>", "(Ljava/lang/String;)V", false);
            text(m);
        });
    }

    @Test
    void this_overwritten_and_slots_reused() throws Exception {
        check(m -> {
            m.visitInsn(ICONST_5);
            call(m, "i", "(I)I");
            m.visitVarInsn(ISTORE, 0);
            m.visitLdcInsn(7L);
            call(m, "l", "(J)J");
            m.visitVarInsn(LSTORE, 1);
            m.visitVarInsn(ILOAD, 0);
            call(m, "i", "(I)I");
            m.visitInsn(I2L);
            m.visitVarInsn(LLOAD, 1);
            m.visitInsn(LADD);
            m.visitVarInsn(LSTORE, 0);
            m.visitLdcInsn("x");
            call(m, "s", "(Ljava/lang/String;)Ljava/lang/String;");
            m.visitVarInsn(ASTORE, 2);
            m.visitVarInsn(LLOAD, 0);
            call(m, "l", "(J)J");
            m.visitMethodInsn(INVOKESTATIC, "java/lang/Long", "toString", "(J)Ljava/lang/String;", false);
            m.visitVarInsn(ALOAD, 2);
            m.visitMethodInsn(INVOKEVIRTUAL, "java/lang/String", "concat", "(Ljava/lang/String;)Ljava/lang/String;", false);
            text(m);
        });
    }

    @Test
    void large_switch_and_many_sites() throws Exception {
        check(m -> {
            Label[] cases = new Label[300];
            for (int i = 0; i < cases.length; i++) {
                cases[i] = new Label();
            }
            Label none = new Label();
            m.visitIntInsn(SIPUSH, 290);
            call(m, "i", "(I)I");
            m.visitTableSwitchInsn(0, cases.length - 1, none, cases);
            for (int i = 0; i < cases.length; i++) {
                m.visitLabel(cases[i]);
                m.visitLdcInsn("case " + i);
                call(m, "s", "(Ljava/lang/String;)Ljava/lang/String;");
                m.visitInsn(POP);
            }
            m.visitLabel(none);
            m.visitLdcInsn("end");
            call(m, "s", "(Ljava/lang/String;)Ljava/lang/String;");
            text(m);
        });
    }

    /** More values than a method has parameters, in locals with wide indices. */
    @Test
    void very_many_locals() throws Exception {
        check(m -> {
            for (int i = 0; i < 200; i++) {
                m.visitLdcInsn((long) i);
                m.visitVarInsn(LSTORE, 300 + 2 * i);
            }
            m.visitLdcInsn(1L);
            call(m, "l", "(J)J");
            for (int i = 0; i < 200; i++) {
                m.visitVarInsn(LLOAD, 300 + 2 * i);
                m.visitInsn(LADD);
            }
            call(m, "l", "(J)J");
            m.visitMethodInsn(INVOKESTATIC, "java/lang/Long", "valueOf", "(J)Ljava/lang/Long;", false);
            m.visitInsn(ARETURN);
        });
    }

    @Test
    void a_method_that_grows_too_large_is_refused() {
        refused("more than the 65535", m -> {
            for (int i = 0; i < 6000; i++) {
                m.visitLdcInsn("x");
                call(m, "s", "(Ljava/lang/String;)Ljava/lang/String;");
                m.visitInsn(POP);
            }
            m.visitInsn(ACONST_NULL);
            m.visitInsn(ARETURN);
        });
    }

    @Test
    void an_uninitialised_object_in_a_variable_is_refused() {
        refused("constructor has not been called", m -> {
            m.visitTypeInsn(NEW, "java/lang/StringBuilder");
            m.visitVarInsn(ASTORE, 1);
            m.visitInsn(ICONST_1);
            call(m, "i", "(I)I");
            m.visitVarInsn(ALOAD, 1);
            m.visitInsn(SWAP);
            m.visitMethodInsn(INVOKESPECIAL, "java/lang/StringBuilder", "<init>", "(I)V", false);
            m.visitVarInsn(ALOAD, 1);
            text(m);
        });
    }

    @Test
    void an_uninitialised_object_that_is_swapped_is_refused() {
        refused("between its 'new' and its constructor", m -> {
            m.visitInsn(ICONST_1);
            m.visitTypeInsn(NEW, "java/lang/StringBuilder");
            m.visitInsn(DUP_X1);
            m.visitInsn(SWAP);
            call(m, "i", "(I)I");
            m.visitMethodInsn(INVOKESPECIAL, "java/lang/StringBuilder", "<init>", "(I)V", false);
            text(m);
        });
    }

    @Test
    void class_files_of_all_versions_that_this_jvm_reads() throws Exception {
        for (int version = V1_7; version <= 44 + Jdks.current(); version++) {
            int v = version;
            SamplesTest.check("version " + v, () -> {
                byte[] b = sample(v, m -> {
                    m.visitLdcInsn("v");
                    call(m, "s", "(Ljava/lang/String;)Ljava/lang/String;");
                    m.visitInsn(ARETURN);
                });
                return mode -> new Isolated(mode).with(NAME, b);
            });
        }
        byte[] old = sample(V1_5, m -> {
            m.visitLdcInsn("v");
            call(m, "s", "(Ljava/lang/String;)Ljava/lang/String;");
            m.visitInsn(ARETURN);
        });
        Exception e = assertThrows(IllegalArgumentException.class, () -> new Isolated(Mode.EXCEPTIONS).with(NAME, old).sample("Handwritten"));
        assertTrue(e.getMessage().contains("version 49"), e.getMessage());
        assertEquals("Handwritten", new Isolated(null).with(NAME, old).sample("Handwritten").getClass().getSimpleName());
    }
}
