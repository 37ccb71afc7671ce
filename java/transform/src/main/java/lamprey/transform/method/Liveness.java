package lamprey.transform.method;

import java.util.BitSet;
import java.util.Map;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.IincInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * The locals that may still be read, before each instruction. An instruction within a try range can go to its handler from the state before it: the
 * verifier sees it so, for every instruction, whether it can throw or not.
 */
final class Liveness implements Opcodes {
    private final Flow flow;
    private final BitSet[] in;

    /** @param uses locals that an instruction reads in addition to what its opcode says */
    Liveness(Flow flow, Map<AbstractInsnNode, BitSet> uses) {
        this.flow = flow;
        in = new BitSet[flow.code.length + 1];
        for (int i = 0; i < in.length; i++) {
            in[i] = new BitSet();
        }
        boolean changed = true;
        while (changed) {
            changed = false;
            for (int i = flow.code.length - 1; i >= 0; i--) {
                BitSet live = before(i, uses);
                if (!live.equals(in[i])) {
                    in[i] = live;
                    changed = true;
                }
            }
        }
    }

    private BitSet before(int i, Map<AbstractInsnNode, BitSet> uses) {
        AbstractInsnNode insn = flow.code[i];
        BitSet live = new BitSet();
        for (int next : flow.successors(i)) {
            live.or(in[next]);
        }
        if (insn instanceof VarInsnNode) {
            live.set(((VarInsnNode) insn).var, insn.getOpcode() < ISTORE);
        } else if (insn instanceof IincInsnNode) {
            live.set(((IincInsnNode) insn).var);
        }
        if (uses.containsKey(insn)) {
            live.or(uses.get(insn));
        }
        if (flow.isReal(i)) {
            addHandlers(live, i);
        }
        return live;
    }

    private void addHandlers(BitSet live, int i) {
        for (TryCatchBlockNode block : flow.handlers(i)) {
            live.or(in[flow.index(block.handler)]);
        }
    }

    /** Before the instruction, label or frame. */
    BitSet before(int i) {
        return in[i];
    }

    /** After a call that was suspended: it may return, or throw. */
    BitSet afterCall(int i) {
        BitSet live = (BitSet) in[i + 1].clone();
        addHandlers(live, i);
        return live;
    }
}
