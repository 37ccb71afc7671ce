package lamprey.transform.rewrite;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import lamprey.transform.analysis.Code;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TypeInsnNode;

/** Replaces {@code new X(..)} by a call of a static method: its NEW and DUP go, and with them the uninitialised values in the frames between. */
final class ConstructorCalls {
    private ConstructorCalls() {}

    /** Whether it is the {@code super(..)} or {@code this(..)} of a constructor, which must stay. */
    static boolean isOfSelf(ClassNode type, MethodNode m, MethodInsnNode call) {
        return Code.constructorCall(type.name, type.superName, m) == call;
    }

    static void replace(MethodNode m, MethodInsnNode init, MethodInsnNode by) {
        AbstractInsnNode made = newOf(m, init);
        AbstractInsnNode dup = made == null ? null : made.getNext();
        while (dup != null && dup.getOpcode() < 0) {
            dup = dup.getNext();
        }
        m.instructions.set(init, by);
        if (made == null) {
            throw new IllegalStateException("no NEW belongs to the call of " + init.owner + "." + init.name + init.desc + " in " + m.name);
        }
        forget(m, made);
        if (dup != null && dup.getOpcode() == Opcodes.DUP) {
            m.instructions.remove(dup);
        } else {
            m.instructions.insert(by, new InsnNode(Opcodes.POP));
        }
        m.instructions.remove(made);
    }

    /** Compilers nest NEW and constructor call as the source does. */
    private static AbstractInsnNode newOf(MethodNode m, MethodInsnNode init) {
        Deque<AbstractInsnNode> open = new ArrayDeque<>();
        for (AbstractInsnNode i = m.instructions.getFirst(); i != init; i = i.getNext()) {
            if (i.getOpcode() == Opcodes.NEW && ((TypeInsnNode) i).desc.equals(init.owner)) {
                open.push(i);
            } else if (i instanceof MethodInsnNode && ((MethodInsnNode) i).name.equals("<init>") && ((MethodInsnNode) i).owner.equals(init.owner)
                && !open.isEmpty()) {
                open.pop();
            }
        }
        return open.peek();
    }

    private static void forget(MethodNode m, AbstractInsnNode made) {
        Set<LabelNode> labels = new HashSet<>();
        for (AbstractInsnNode i = made.getPrevious(); i != null && i.getOpcode() < 0; i = i.getPrevious()) {
            if (i instanceof LabelNode) {
                labels.add((LabelNode) i);
            }
        }
        for (AbstractInsnNode i = m.instructions.getFirst(); i != null; i = i.getNext()) {
            if (i instanceof FrameNode && ((FrameNode) i).stack != null) {
                ((FrameNode) i).stack.removeIf(labels::contains);
            }
        }
    }
}
