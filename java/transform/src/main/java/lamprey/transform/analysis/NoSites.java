package lamprey.transform.analysis;

import java.util.HashSet;
import java.util.Set;
import lamprey.transform.types.TypeInfo;
import lamprey.transform.types.Types;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/** The instructions of a method where no frame can be saved: before {@code super(..)}, in some cases that call itself, and while a monitor of the JVM is held. */
final class NoSites {
    private NoSites() {}

    static Set<AbstractInsnNode> of(ClassNode c, MethodNode m, Types types, Set<String> scope) {
        Set<AbstractInsnNode> found = new HashSet<>(Code.beforeConstructorCall(c.name, c.superName, m));
        found.addAll(insideMonitors(m));
        MethodInsnNode constructor = Code.constructorCall(c.name, c.superName, m);
        if (constructor != null && !canBeResumed(constructor, types, scope)) {
            found.add(constructor);
        }
        return found;
    }

    /** Whether the constructor has been, or will be, transformed, so that {@code super(..)} can save the frame that calls it. */
    private static boolean canBeResumed(MethodInsnNode call, Types types, Set<String> scope) {
        String key = call.name + call.desc;
        TypeInfo t = types.get(call.owner);
        return t != null && (scope.contains(t.name) ? !t.primitives.contains(key) : t.mode != null && t.suspendables.contains(key));
    }

    /** A JVM monitor is held by the kernel thread, so nothing may be suspended while it is held. */
    private static Set<AbstractInsnNode> insideMonitors(MethodNode m) {
        Set<AbstractInsnNode> inside = new HashSet<>();
        boolean all = (m.access & Opcodes.ACC_SYNCHRONIZED) != 0;
        boolean some = false;
        for (AbstractInsnNode i = m.instructions.getFirst(); i != null && !all && !some; i = i.getNext()) {
            some = i.getOpcode() == Opcodes.MONITORENTER;
        }
        int[] held = some ? Flow.monitors(m) : null;
        for (int i = 0; (all || some) && i < m.instructions.size(); i++) {
            if (all || held[i] > 0) {
                inside.add(m.instructions.get(i));
            }
        }
        return inside;
    }
}
