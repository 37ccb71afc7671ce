package lamprey.transform.rewrite;

import java.util.List;
import lamprey.transform.analysis.Lambda;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.VarInsnNode;

/** Lets {@code $deserializeLambda$} know the bodies that have been generated for serialisable method references. */
final class Deserialisation {
    private static final String FORM = "java/lang/invoke/SerializedLambda";

    private Deserialisation() {}

    static void add(ClassNode type, List<Lambda> references) {
        for (MethodNode m : type.methods) {
            if (m.name.equals("$deserializeLambda$")) {
                InsnList head = new InsnList();
                for (Lambda l : references) {
                    answer(head, l);
                }
                m.instructions.insert(head);
                m.maxStack = Math.max(m.maxStack, 2 + most(references));
            }
        }
    }

    private static int most(List<Lambda> references) {
        int most = 2;
        for (Lambda l : references) {
            most = Math.max(most, (Type.getArgumentsAndReturnSizes(l.site.desc) >> 2) + 2);
        }
        return most;
    }

    /** if (form.getImplMethodName().equals(name)) return the lambda, with what it had captured. */
    private static void answer(InsnList code, Lambda l) {
        LabelNode other = new LabelNode();
        code.add(new VarInsnNode(Opcodes.ALOAD, 0));
        code.add(new MethodInsnNode(Opcodes.INVOKEVIRTUAL, FORM, "getImplMethodName", "()Ljava/lang/String;", false));
        code.add(new LdcInsnNode(((Handle) l.site.bsmArgs[1]).getName()));
        code.add(new MethodInsnNode(Opcodes.INVOKEVIRTUAL, "java/lang/String", "equals", "(Ljava/lang/Object;)Z", false));
        code.add(new JumpInsnNode(Opcodes.IFEQ, other));
        Type[] captured = Type.getArgumentTypes(l.site.desc);
        for (int i = 0; i < captured.length; i++) {
            code.add(new VarInsnNode(Opcodes.ALOAD, 0));
            code.add(new LdcInsnNode(i));
            code.add(new MethodInsnNode(Opcodes.INVOKEVIRTUAL, FORM, "getCapturedArg", "(I)Ljava/lang/Object;", false));
            Conversions.convert(code, Type.getObjectType("java/lang/Object"), captured[i]);
        }
        code.add(new InvokeDynamicInsnNode(l.site.name, l.site.desc, l.site.bsm, l.site.bsmArgs));
        code.add(new InsnNode(Opcodes.ARETURN));
        code.add(other);
        code.add(new FrameNode(Opcodes.F_NEW, 1, new Object[] {FORM}, 0, new Object[0]));
    }
}
