package lamprey.transform.method;

import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.Opcodes;

/** POP, DUP, SWAP and their kin. What they do depends on how many words an operand has. */
final class Shuffle implements Opcodes {
    private Shuffle() {}

    static void apply(List<Value> stack, int op) {
        if (op == POP || op == POP2) {
            take(stack, op == POP ? 1 : 2);
            return;
        }
        if (op == SWAP) {
            stack.add(stack.size() - 2, stack.remove(stack.size() - 1));
            return;
        }
        List<Value> top = take(stack, op >= DUP2 ? 2 : 1);
        List<Value> between = take(stack, op == DUP_X1 || op == DUP2_X1 ? 1 : op == DUP_X2 || op == DUP2_X2 ? 2 : 0);
        stack.addAll(top);
        stack.addAll(between);
        stack.addAll(top);
    }

    /** Removes as many operands from the top as make up this many words; the top comes last. */
    private static List<Value> take(List<Value> stack, int words) {
        List<Value> taken = new ArrayList<>();
        for (int n = 0; n < words; n += taken.get(0).size()) {
            taken.add(0, stack.remove(stack.size() - 1));
        }
        return taken;
    }
}
