package lamprey.transform.analysis;

import java.util.HashSet;
import java.util.Set;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TypeInsnNode;

/** What is asked of a method's instructions. */
public final class Code {
    private Code() {}

    /** The line of an instruction; -1 if not known. */
    public static int line(AbstractInsnNode insn) {
        for (AbstractInsnNode i = insn; i != null; i = i.getPrevious()) {
            if (i instanceof LineNumberNode) {
                return ((LineNumberNode) i).line;
            }
        }
        return -1;
    }

    /**
     * Of a constructor, the call of {@code super(..)} or {@code this(..)}; null for other methods. It is the first call of such a constructor that
     * does not belong to a {@code new}; compilers emit these nested as in the source, so counting finds it.
     */
    public static MethodInsnNode constructorCall(String type, String superType, MethodNode method) {
        if (!method.name.equals("<init>")) {
            return null;
        }
        int open = 0;
        for (AbstractInsnNode i = method.instructions.getFirst(); i != null; i = i.getNext()) {
            if (i.getOpcode() == Opcodes.NEW && isOne(((TypeInsnNode) i).desc, type, superType)) {
                open++;
            } else if (i.getOpcode() == Opcodes.INVOKESPECIAL) {
                MethodInsnNode call = (MethodInsnNode) i;
                if (call.name.equals("<init>") && isOne(call.owner, type, superType) && open-- == 0) {
                    return call;
                }
            }
        }
        return null;
    }

    private static boolean isOne(String name, String a, String b) {
        return name.equals(a) || name.equals(b);
    }

    /** The calls that stand before {@code super(..)} or {@code this(..)}: the object is not initialised there, so no frame can be saved. */
    static Set<MethodInsnNode> beforeConstructorCall(String type, String superType, MethodNode method) {
        Set<MethodInsnNode> before = new HashSet<>();
        MethodInsnNode end = constructorCall(type, superType, method);
        for (AbstractInsnNode i = end == null ? null : end.getPrevious(); i != null; i = i.getPrevious()) {
            if (i instanceof MethodInsnNode) {
                before.add((MethodInsnNode) i);
            }
        }
        return before;
    }
}
