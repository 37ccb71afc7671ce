package lamprey.transform.method;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodInsnNode;

/**
 * For the text of a {@code PinnedError}: the calls of a method that a suspension may have come through. One handler serves all calls that are no sites, so it is not known which
 * it was; those that are given a function, or end a stream, come first.
 */
final class Suspects {
    private static final int MOST = 3;

    private Suspects() {}

    /** {@code plan.where} with these calls and their lines; as it is if there are too many to help. */
    static String where(Plan plan, IntPredicate canEscape) {
        List<MethodInsnNode> all = new ArrayList<>();
        List<MethodInsnNode> likely = new ArrayList<>();
        for (int i = 0; i < plan.flow.code.length; i++) {
            if (plan.flow.code[i] instanceof MethodInsnNode && canEscape.test(i)) {
                MethodInsnNode call = (MethodInsnNode) plan.flow.code[i];
                all.add(call);
                if (takesFunction(call)) {
                    likely.add(call);
                }
            }
        }
        List<MethodInsnNode> named = likely.isEmpty() ? all : likely;
        if (named.isEmpty() || named.size() > MOST || !plan.where.endsWith(")")) {
            return plan.where;
        }
        StringBuilder text = new StringBuilder(plan.where);
        text.setLength(text.length() - 1);
        String before = named.size() == 1 ? "; by " : "; by one of ";
        for (MethodInsnNode call : named) {
            text.append(before).append(name(call));
            before = ", ";
        }
        return text.append(')').toString();
    }

    /** The call with its line. */
    static String name(MethodInsnNode call) {
        int line = line(call);
        return call.owner.substring(call.owner.lastIndexOf('/') + 1) + "." + call.name + (line < 0 ? "" : " in line " + line);
    }

    private static boolean takesFunction(MethodInsnNode call) {
        boolean takes = call.owner.startsWith("java/util/stream/");
        for (Type arg : Type.getArgumentTypes(call.desc)) {
            String name = arg.getSort() == Type.OBJECT ? arg.getInternalName() : "";
            takes |= name.startsWith("java/util/function/") || name.equals("java/util/Comparator") || name.equals("java/lang/Runnable")
                || name.equals("java/util/concurrent/Callable") || name.equals("java/security/PrivilegedAction") || name.equals("java/security/PrivilegedExceptionAction");
        }
        return takes;
    }

    private static int line(AbstractInsnNode insn) {
        for (AbstractInsnNode i = insn; i != null; i = i.getPrevious()) {
            if (i instanceof LineNumberNode) {
                return ((LineNumberNode) i).line;
            }
        }
        return -1;
    }
}
