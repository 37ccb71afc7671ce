package lamprey.transform.method;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TypeInsnNode;

/**
 * Moves NEW and DUP down to the constructor's call where a call that can suspend stands between them, or is that constructor: an uninitialised object
 * cannot be saved. The class of the object is initialised later than the arguments are evaluated, then.
 */
final class NewMover implements Opcodes {
    private final String owner;
    private final MethodNode method;
    private final Set<AbstractInsnNode> suspending;
    private final Set<Object> moved = new HashSet<>();
    private final List<AbstractInsnNode> removed = new ArrayList<>();
    private final Map<AbstractInsnNode, MovedInit> inits = new HashMap<>();
    private Unsupported failure;

    private NewMover(String owner, MethodNode method, Set<AbstractInsnNode> suspending) {
        this.owner = owner;
        this.method = method;
        this.suspending = suspending;
    }

    /** Changes the method; a constructor's call in {@code suspending} is replaced there as well. */
    static void move(String owner, MethodNode method, Set<AbstractInsnNode> suspending) throws Unsupported {
        new NewMover(owner, method, suspending).run();
    }

    private void run() throws Unsupported {
        Flow flow = new Flow(method);
        flow.types(owner, (i, state) -> find(flow.code[i], state));
        if (moved.isEmpty()) {
            return;
        }
        flow.types(owner, (i, state) -> check(flow.code[i], state));
        if (failure != null) {
            throw failure;
        }
        for (AbstractInsnNode insn : flow.code) {
            if (insn instanceof FrameNode) {
                strip((FrameNode) insn);
            }
        }
        for (Map.Entry<AbstractInsnNode, MovedInit> e : inits.entrySet()) {
            method.instructions.set(e.getKey(), e.getValue());
            if (suspending.remove(e.getKey())) {
                suspending.add(e.getValue());
            }
        }
        for (AbstractInsnNode insn : removed) {
            method.instructions.remove(insn);
        }
    }

    /** Notes the NEWs whose objects are on the stack while a call can suspend. */
    private void find(AbstractInsnNode insn, TypeState state) {
        if (suspending.contains(insn)) {
            for (Value v : state.stack) {
                if (v.type instanceof TypeInsnNode) {
                    moved.add(v.type);
                }
            }
        }
    }

    private void check(AbstractInsnNode insn, TypeState state) {
        if (moved.contains(insn)) {
            removed.add(insn);
            return;
        }
        for (int k = 0; k < state.localsLength(); k++) {
            if (moved.contains(state.local(k))) {
                refuse(insn);
            }
        }
        int op = insn.getOpcode();
        if (op == DUP && moved.contains(state.peek(0).type)) {
            removed.add(insn);
        } else if (op == INVOKESPECIAL && ((MethodInsnNode) insn).name.equals("<init>")) {
            constructor((MethodInsnNode) insn, state);
        } else {
            int touched = op == SWAP || op == DUP_X1 || op == DUP2 || op == POP2 ? 2 : op == DUP_X2 || op == DUP2_X1 ? 3 : op == DUP2_X2 ? 4
                : op == POP || op == ASTORE || op == IFNULL || op == IFNONNULL ? 1 : op == IF_ACMPEQ || op == IF_ACMPNE ? 2 : 0;
            for (int depth = 0, words = 0; words < touched; depth++) {
                words += state.peek(depth).size();
                if (moved.contains(state.peek(depth).type)) {
                    refuse(insn);
                }
            }
        }
    }

    private void constructor(MethodInsnNode call, TypeState state) {
        int args = Type.getArgumentTypes(call.desc).length;
        Object object = state.peek(args).type;
        if (!moved.contains(object)) {
            return;
        }
        int copies = 0;
        while (args + 1 + copies < state.stack.size() && state.peek(args + 1 + copies).type == object) {
            copies++;
        }
        for (int depth = args + 1 + copies; depth < state.stack.size(); depth++) {
            if (state.peek(depth).type == object) {
                refuse(call);
            }
        }
        inits.put(call, new MovedInit(call.owner, call.desc, copies));
    }

    private void refuse(AbstractInsnNode insn) {
        if (failure == null) {
            failure = new Unsupported(insn, "an object is used in an unusual way between its 'new' and its constructor, whose arguments can suspend; "
                + "evaluate the arguments into variables first");
        }
    }

    private void strip(FrameNode frame) {
        List<Object> stack = new ArrayList<>();
        for (Object type : frame.stack) {
            if (!moved.contains(TypeState.resolve(type))) {
                stack.add(type);
            }
        }
        frame.stack = stack;
    }
}
