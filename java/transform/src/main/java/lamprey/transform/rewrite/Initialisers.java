package lamprey.transform.rewrite;

import lamprey.transform.Names;
import lamprey.transform.analysis.CallGraph;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TryCatchBlockNode;

/**
 * Tells the runtime when a static initialiser runs that may have to wait, for a lock say: it cannot be suspended, so the carrier waits. A failed initialiser would make
 * its class unusable for ever.
 */
public final class Initialisers {
    private Initialisers() {}

    /** Changes the class in place, after the calls that may suspend are known; returns whether it did. */
    public static boolean rewrite(ClassNode c, CallGraph graph) {
        for (MethodNode m : c.methods) {
            if (m.name.equals("<clinit>") && maySuspend(c, m, graph)) {
                surround(m);
                return true;
            }
        }
        return false;
    }

    private static boolean maySuspend(ClassNode c, MethodNode m, CallGraph graph) {
        for (AbstractInsnNode i = m.instructions.getFirst(); i != null; i = i.getNext()) {
            if (i instanceof MethodInsnNode && graph.suspends(c, (MethodInsnNode) i)) {
                return true;
            }
        }
        return false;
    }

    private static void surround(MethodNode m) {
        LabelNode start = new LabelNode();
        LabelNode end = new LabelNode();
        InsnList first = new InsnList();
        first.add(call("begin"));
        first.add(start);
        for (AbstractInsnNode i : m.instructions.toArray()) {
            if (i.getOpcode() == Opcodes.RETURN) {
                LabelNode before = new LabelNode();
                LabelNode after = new LabelNode();
                m.instructions.insertBefore(i, before);
                m.instructions.insertBefore(i, call("end"));
                m.instructions.insert(i, after);
                m.tryCatchBlocks.add(new TryCatchBlockNode(start, before, end, null));
                start = after;
            }
        }
        m.instructions.insert(first);
        LabelNode handled = new LabelNode();
        m.instructions.add(handled);
        if (hasCode(start, handled)) {
            m.tryCatchBlocks.add(new TryCatchBlockNode(start, handled, end, null));
        }
        m.instructions.add(end);
        m.instructions.add(new FrameNode(Opcodes.F_NEW, 0, new Object[0], 1, new Object[] {"java/lang/Throwable"}));
        m.instructions.add(call("end"));
        m.instructions.add(new InsnNode(Opcodes.ATHROW));
        m.maxStack = Math.max(m.maxStack, 1);
        m.tryCatchBlocks.removeIf(b -> b.handler == end && !hasCode(b.start, b.end));
    }

    /** An empty range is no valid one. */
    private static boolean hasCode(AbstractInsnNode from, AbstractInsnNode to) {
        for (AbstractInsnNode i = from; i != to; i = i.getNext()) {
            if (i.getOpcode() >= 0) {
                return true;
            }
        }
        return false;
    }

    private static MethodInsnNode call(String name) {
        return new MethodInsnNode(Opcodes.INVOKESTATIC, Names.INITIALISER, name, "()V", false);
    }
}
