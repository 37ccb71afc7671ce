package lamprey.transform.method;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;

/** A method's instructions by number, where control goes from each, and the exception handlers that cover each. Labels, lines and frames are numbered too. */
final class Flow implements Opcodes {
    final MethodNode method;
    final AbstractInsnNode[] code;
    private final Map<AbstractInsnNode, Integer> labels = new HashMap<>();
    private final List<List<TryCatchBlockNode>> handlers = new ArrayList<>();

    Flow(MethodNode method) {
        this.method = method;
        code = method.instructions.toArray();
        for (int i = 0; i < code.length; i++) {
            handlers.add(Collections.emptyList());
            if (code[i] instanceof LabelNode) {
                labels.put(code[i], i);
            }
        }
        for (TryCatchBlockNode block : method.tryCatchBlocks) {
            for (int i = index(block.start); i < index(block.end); i++) {
                if (handlers.get(i).isEmpty()) {
                    handlers.set(i, new ArrayList<>(2));
                }
                handlers.get(i).add(block);
            }
        }
    }

    int index(LabelNode label) {
        return labels.get(label);
    }

    /** Whether this is an instruction, and not a label, line or frame. */
    boolean isReal(int i) {
        return code[i].getOpcode() >= 0;
    }

    /** The entries of the exception table for this instruction, in order. */
    List<TryCatchBlockNode> handlers(int i) {
        return handlers.get(i);
    }

    /** Whether control never goes on behind this instruction. */
    static boolean isEnd(AbstractInsnNode insn) {
        int op = insn.getOpcode();
        return op == GOTO || op == TABLESWITCH || op == LOOKUPSWITCH || op >= IRETURN && op <= RETURN || op == ATHROW;
    }

    /** Where control may go from here, without exceptions. */
    int[] successors(int i) {
        AbstractInsnNode insn = code[i];
        List<LabelNode> targets = new ArrayList<>();
        if (insn instanceof JumpInsnNode) {
            targets.add(((JumpInsnNode) insn).label);
        } else if (insn instanceof TableSwitchInsnNode) {
            targets.addAll(((TableSwitchInsnNode) insn).labels);
            targets.add(((TableSwitchInsnNode) insn).dflt);
        } else if (insn instanceof LookupSwitchInsnNode) {
            targets.addAll(((LookupSwitchInsnNode) insn).labels);
            targets.add(((LookupSwitchInsnNode) insn).dflt);
        }
        boolean next = !isEnd(insn) && i + 1 < code.length;
        int[] all = new int[targets.size() + (next ? 1 : 0)];
        for (int t = 0; t < targets.size(); t++) {
            all[t] = index(targets.get(t));
        }
        if (next) {
            all[all.length - 1] = i + 1;
        }
        return all;
    }

    /** Calls {@code visitor} with each instruction and the types before it. Instructions that no control reaches, and that have no frame, are left out. */
    void types(String owner, BiConsumer<Integer, TypeState> visitor) {
        TypeState state = TypeState.initial(owner, method.access, method.name, method.desc);
        for (int i = 0; i < code.length; i++) {
            if (code[i] instanceof FrameNode) {
                state = TypeState.of(owner, (FrameNode) code[i]);
            } else if (isReal(i) && state != null) {
                visitor.accept(i, state);
                state.execute(code[i]);
                if (isEnd(code[i])) {
                    state = null;
                }
            }
        }
    }

    /** The instructions that can be reached from these. */
    boolean[] reachable(List<Integer> from) {
        boolean[] seen = new boolean[code.length];
        List<Integer> todo = new ArrayList<>(from);
        while (!todo.isEmpty()) {
            int i = todo.remove(todo.size() - 1);
            if (i >= code.length || seen[i]) {
                continue;
            }
            seen[i] = true;
            for (int next : successors(i)) {
                todo.add(next);
            }
            if (isReal(i)) {
                for (TryCatchBlockNode block : handlers(i)) {
                    todo.add(index(block.handler));
                }
            }
        }
        return seen;
    }
}
