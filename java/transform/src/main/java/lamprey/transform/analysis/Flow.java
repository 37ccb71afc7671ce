package lamprey.transform.analysis;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.function.Predicate;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;

/** The ways through a method. */
final class Flow {
    private final MethodNode method;
    private final int size;
    private final Deque<Integer> next = new ArrayDeque<>();
    /** Monitors held before each instruction; -1 if it has not been reached. */
    private final int[] depth;

    private Flow(MethodNode method) {
        this.method = method;
        size = method.instructions.size();
        depth = new int[size];
        Arrays.fill(depth, -1);
    }

    /** Whether the method returns only after one of the given instructions. Whether it throws does not matter. */
    static boolean mustPass(MethodNode method, Predicate<AbstractInsnNode> gates) {
        Flow f = new Flow(method);
        return !f.walk(gates);
    }

    /** How many monitors are held at each instruction. */
    static int[] monitors(MethodNode method) {
        Flow f = new Flow(method);
        f.walk(i -> false);
        return f.depth;
    }

    /** Returns whether it has reached a return. */
    private boolean walk(Predicate<AbstractInsnNode> gates) {
        boolean returns = false;
        reach(0, 0);
        while (!next.isEmpty()) {
            int i = next.pop();
            AbstractInsnNode insn = method.instructions.get(i);
            int op = insn.getOpcode();
            if (insn instanceof LabelNode) {
                handlers((LabelNode) insn, depth[i]);
            }
            if (gates.test(insn)) {
                continue;
            }
            returns |= op >= Opcodes.IRETURN && op <= Opcodes.RETURN;
            int after = depth[i] + (op == Opcodes.MONITORENTER ? 1 : op == Opcodes.MONITOREXIT ? -1 : 0);
            branch(insn, Math.max(after, 0));
            boolean ends = op >= Opcodes.IRETURN && op <= Opcodes.RETURN || op == Opcodes.ATHROW || op == Opcodes.GOTO
                || op == Opcodes.TABLESWITCH || op == Opcodes.LOOKUPSWITCH;
            if (!ends) {
                reach(i + 1, Math.max(after, 0));
            }
        }
        return returns;
    }

    /** A range begins here: its handlers can be reached. A range that is entered in its middle only is found by its end label's predecessor too. */
    private void handlers(LabelNode label, int held) {
        for (TryCatchBlockNode block : method.tryCatchBlocks) {
            int at = method.instructions.indexOf(label);
            if (at >= method.instructions.indexOf(block.start) && at < method.instructions.indexOf(block.end)) {
                reach(method.instructions.indexOf(block.handler), held);
            }
        }
    }

    private void branch(AbstractInsnNode insn, int held) {
        if (insn instanceof JumpInsnNode) {
            to(((JumpInsnNode) insn).label, held);
        } else if (insn instanceof TableSwitchInsnNode) {
            to(((TableSwitchInsnNode) insn).dflt, held);
            to(((TableSwitchInsnNode) insn).labels, held);
        } else if (insn instanceof LookupSwitchInsnNode) {
            to(((LookupSwitchInsnNode) insn).dflt, held);
            to(((LookupSwitchInsnNode) insn).labels, held);
        }
    }

    private void to(List<LabelNode> labels, int held) {
        for (LabelNode l : labels) {
            to(l, held);
        }
    }

    private void to(LabelNode label, int held) {
        reach(method.instructions.indexOf(label), held);
    }

    private void reach(int i, int held) {
        if (i < size && depth[i] < 0) {
            depth[i] = held;
            next.push(i);
        }
    }
}
