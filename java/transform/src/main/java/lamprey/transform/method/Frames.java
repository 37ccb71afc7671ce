package lamprey.transform.method;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.TypeInsnNode;

/** The locals of a StackMapTable frame, by variable, and the frame made of them. */
final class Frames implements Opcodes {
    private final List<Object> variables = new ArrayList<>();

    /** The locals of a state; of those, where {@code live} is given, only these. */
    static Frames of(TypeState state, BitSet live) {
        Frames f = new Frames();
        for (int k = 0; k < state.localsLength(); k++) {
            // The label of a NEW is not known here, and nobody reads such a local.
            if (!(state.local(k) instanceof TypeInsnNode) && (live == null || live.get(k))) {
                f.set(k, state.local(k));
            }
        }
        return f;
    }

    Frames set(int k, Object type) {
        while (variables.size() < k + Types.size(type)) {
            variables.add(TOP);
        }
        variables.set(k, type);
        return this;
    }

    Object get(int k) {
        return k < variables.size() ? variables.get(k) : TOP;
    }

    FrameNode node(Object... stack) {
        return node(Arrays.asList(stack));
    }

    FrameNode node(List<Object> stack) {
        List<Object> locals = new ArrayList<>();
        for (int k = 0; k < variables.size(); k += Types.size(variables.get(k))) {
            locals.add(variables.get(k));
        }
        while (!locals.isEmpty() && TOP.equals(locals.get(locals.size() - 1))) {
            locals.remove(locals.size() - 1);
        }
        return new FrameNode(F_NEW, locals.size(), locals.toArray(), stack.size(), stack.toArray());
    }

    /** A copy of a frame with only the live locals. */
    static FrameNode restrict(FrameNode frame, BitSet live, Map<LabelNode, LabelNode> labels) {
        Frames f = new Frames();
        int k = 0;
        for (Object type : frame.local) {
            if (live.get(k)) {
                f.set(k, mapped(type, labels));
            }
            k += Types.size(type);
        }
        List<Object> stack = new ArrayList<>();
        for (Object type : frame.stack) {
            stack.add(mapped(type, labels));
        }
        return f.node(stack);
    }

    private static Object mapped(Object type, Map<LabelNode, LabelNode> labels) {
        return type instanceof LabelNode ? labels.get(type) : type;
    }

    /** The types of operands. */
    static List<Object> types(List<Value> values) {
        List<Object> types = new ArrayList<>();
        for (Value v : values) {
            types.add(v.type);
        }
        return Collections.unmodifiableList(types);
    }
}
