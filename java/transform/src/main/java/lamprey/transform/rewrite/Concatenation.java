package lamprey.transform.rewrite;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import lamprey.transform.Names;
import lamprey.transform.analysis.CallGraph;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Where the JDK would call a {@code toString()} that can suspend, to concatenate, append or print, calls it before, by
 * {@code Concat.text(Object)}, and gives the JDK the string.
 */
public final class Concatenation {
    private static final String OBJECT = "(Ljava/lang/Object;)";
    private static final String FACTORY = "java/lang/invoke/StringConcatFactory";
    private static final Set<String> TEXTS = new HashSet<>(Arrays.asList(
        "java/lang/StringBuilder.append", "java/lang/StringBuffer.append", "java/io/PrintStream.print", "java/io/PrintStream.println",
        "java/io/PrintWriter.print", "java/io/PrintWriter.println", "java/util/StringJoiner.add"));

    private Concatenation() {}

    /** Changes the class in place. */
    public static void rewrite(ClassNode type, CallGraph graph) {
        if (type.name.equals(Names.CONCAT) || !graph.textSuspends("java/lang/Object")) {
            return;
        }
        for (MethodNode m : type.methods) {
            for (AbstractInsnNode i : m.instructions.toArray()) {
                if (i instanceof MethodInsnNode) {
                    call(m, (MethodInsnNode) i);
                } else if (i instanceof InvokeDynamicInsnNode && ((InvokeDynamicInsnNode) i).bsm.getOwner().equals(FACTORY)) {
                    concatenation(m, (InvokeDynamicInsnNode) i, graph);
                }
            }
        }
    }

    private static void call(MethodNode m, MethodInsnNode call) {
        if (!call.desc.startsWith(OBJECT)) {
            return;
        }
        String name = call.owner + "." + call.name;
        if (name.equals("java/lang/String.valueOf") || name.equals("java/util/Objects.toString")) {
            m.instructions.set(call, text());
        } else if (TEXTS.contains(name)) {
            // The string is passed as an Object: subclasses see the same call.
            m.instructions.insertBefore(call, text());
        }
    }

    private static MethodInsnNode text() {
        return new MethodInsnNode(Opcodes.INVOKESTATIC, Names.CONCAT, "text", OBJECT + "Ljava/lang/String;", false);
    }

    private static void concatenation(MethodNode m, InvokeDynamicInsnNode indy, CallGraph graph) {
        Type[] operands = Type.getArgumentTypes(indy.desc);
        int first = -1;
        for (int i = operands.length - 1; i >= 0; i--) {
            first = mayCall(operands[i], graph) ? i : first;
        }
        if (first < 0) {
            return;
        }
        // From the first such operand on, all are taken off the stack and put back, the objects as strings.
        InsnList code = new InsnList();
        int[] slots = new int[operands.length];
        for (int i = operands.length - 1; i >= first; i--) {
            slots[i] = m.maxLocals;
            m.maxLocals += operands[i].getSize();
            code.add(new VarInsnNode(operands[i].getOpcode(Opcodes.ISTORE), slots[i]));
        }
        for (int i = first; i < operands.length; i++) {
            code.add(new VarInsnNode(operands[i].getOpcode(Opcodes.ILOAD), slots[i]));
            if (mayCall(operands[i], graph)) {
                code.add(text());
                operands[i] = Type.getObjectType("java/lang/String");
            }
        }
        m.instructions.insertBefore(indy, code);
        indy.desc = Type.getMethodDescriptor(Type.getReturnType(indy.desc), operands);
    }

    private static boolean mayCall(Type operand, CallGraph graph) {
        return operand.getSort() == Type.OBJECT && graph.textSuspends(operand.getInternalName());
    }
}
