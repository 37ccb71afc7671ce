package lamprey.transform.method;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lamprey.transform.Mode;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.TypeInsnNode;

/**
 * What catches a {@code Suspend} that comes from a call that is no site, so that it was thrown through a method that is not transformed: the program's
 * handlers for Throwable, Error and finally, which turn it into a {@code PinnedError}, and a handler over the whole body that does the same. The program's
 * handlers for errors of the JVM (no stack or memory is left), around sites too, end a suspension that such an error has interrupted.
 *
 * <p>With flags nothing is thrown, but such a call may return, or throw something else, while the thread is being suspended: it is asked for behind each,
 * and in the same handlers.
 *
 * <p>Before {@code super(..)} the whole-body handler must say that {@code this} is uninitialised, so there are two. The call itself can have none: of an
 * instruction that initialises {@code this}, HotSpot's verifier compares the state before and the state after with the handler's frame.
 */
final class Escapes implements Opcodes {
    private static final Set<String> LEAVES = new HashSet<>(Arrays.asList("java/lang/String", "java/lang/Math", "java/lang/StrictMath", "java/lang/Integer",
        "java/lang/Long", "java/lang/Short", "java/lang/Byte", "java/lang/Character", "java/lang/Boolean", "java/lang/Float", "java/lang/Double",
        "java/lang/System", "java/lang/StringBuilder"));

    private enum Kind { NORMAL, BEFORE_SUPER, NONE }

    private static final class Range {
        final LabelNode start = new LabelNode();
        final LabelNode end = new LabelNode();
        final Kind kind;
        boolean needed;

        Range(Kind kind) {
            this.kind = kind;
        }
    }

    private final BodyWriter body;
    private final Plan plan;
    private final InsnList out;
    private final Kind[] kinds;
    private final List<Range> ranges = new ArrayList<>();
    private Range current;
    /** Where a Suspend was caught; made when it is needed. */
    private String where;
    private final Map<LabelNode, LabelNode> converters = new LinkedHashMap<>();

    Escapes(BodyWriter body) {
        this.body = body;
        plan = body.plan;
        out = body.out;
        kinds = new Kind[plan.flow.code.length];
        Arrays.fill(kinds, plan.isConstructor() && !body.isTwin() ? Kind.NONE : Kind.NORMAL);
        if (plan.isConstructor() && !body.isTwin()) {
            plan.flow.types(plan.owner, (i, state) -> kinds[i] = kind(plan.flow.code[i], state));
        }
    }

    private static Kind kind(AbstractInsnNode insn, TypeState state) {
        if (insn.getOpcode() == INVOKESPECIAL && ((MethodInsnNode) insn).name.equals("<init>") && !(insn instanceof MovedInit)
            && UNINITIALIZED_THIS.equals(state.peek(Type.getArgumentTypes(((MethodInsnNode) insn).desc).length).type)) {
            return Kind.NONE;
        }
        if (UNINITIALIZED_THIS.equals(state.local(0))) {
            return Kind.BEFORE_SUPER;
        }
        return state.hasUninitialisedThis() ? Kind.NONE : Kind.NORMAL;
    }

    /** Whether a {@code Suspend} can be thrown here although this is no site. */
    private boolean canEscape(int i) {
        AbstractInsnNode insn = plan.flow.code[i];
        if (!plan.flow.isReal(i) || !body.isWritten(i) || plan.site(insn) != null) {
            return false;
        }
        if (insn instanceof MethodInsnNode) {
            return !isLeaf((MethodInsnNode) insn);
        }
        if (insn instanceof InvokeDynamicInsnNode) {
            return !((InvokeDynamicInsnNode) insn).bsm.getOwner().equals("java/lang/invoke/LambdaMetafactory");
        }
        // A class may be initialised.
        int op = insn.getOpcode();
        return op == NEW && isForeign(((TypeInsnNode) insn).desc)
            || (op == GETSTATIC || op == PUTSTATIC) && isForeign(((FieldInsnNode) insn).owner);
    }

    private boolean isForeign(String type) {
        return !type.startsWith("java/") && !type.equals(plan.owner);
    }

    /** Calls of the JDK that run no code of the program. */
    private static boolean isLeaf(MethodInsnNode call) {
        if (call.owner.equals(Runtime.OBJECT)) {
            return call.name.equals("<init>") || call.name.equals("getClass");
        }
        if (call.owner.equals("java/lang/StringBuilder") && call.name.equals("<init>") && call.desc.equals("()V")) {
            return true;
        }
        if (call.owner.equals("java/lang/Thread")) {
            return call.name.equals("currentThread");
        }
        // Their toString() calls that of the value.
        boolean atomic = call.owner.startsWith("java/util/concurrent/atomic/Atomic") && !call.name.equals("toString");
        if (!atomic && !LEAVES.contains(call.owner)) {
            return false;
        }
        for (Type arg : Type.getArgumentTypes(call.desc)) {
            boolean plain = arg.getSort() < Type.ARRAY || arg.getSort() == Type.ARRAY && arg.getElementType().getSort() < Type.ARRAY
                || arg.getInternalName().equals("java/lang/String") || atomic && arg.getInternalName().equals(Runtime.OBJECT);
            if (!plain) {
                return false;
            }
        }
        return true;
    }

    /**
     * The starts of the program's handlers that may get a {@code Suspend}, or an error that has come while frames were being saved, from a site too. The
     * value says whether a {@code Suspend} can be caught there.
     */
    Map<LabelNode, Boolean> heads() {
        Map<LabelNode, Boolean> heads = new HashMap<>();
        for (TryCatchBlockNode e : plan.method.tryCatchBlocks) {
            boolean catches = e.type == null || Runtime.SUSPENDS.contains(e.type);
            boolean relevant = catches || Runtime.FAILURES.contains(e.type);
            for (int i = plan.flow.index(e.start); relevant && i < plan.flow.index(e.end); i++) {
                if (canEscape(i) || body.isWritten(i) && plan.site(plan.flow.code[i]) != null) {
                    heads.merge(e.handler, catches, Boolean::logicalOr);
                    break;
                }
            }
        }
        return heads;
    }

    /** At the start of a handler; the exception is on the stack. */
    void head(FrameNode frame, boolean catchesSuspend) {
        if (!catchesSuspend) {
            out.add(new InsnNode(DUP));
            out.add(new MethodInsnNode(INVOKESTATIC, Runtime.SUSPEND, "failed", "(Ljava/lang/Throwable;)V", false));
            return;
        }
        String type = (String) frame.stack.get(0);
        if (type.equals(Runtime.OBJECT)) {
            out.add(new TypeInsnNode(CHECKCAST, Runtime.THROWABLE));
        }
        escaped();
        if (!type.equals(Runtime.THROWABLE) && !type.equals(Runtime.OBJECT)) {
            out.add(new TypeInsnNode(CHECKCAST, type));
        }
    }

    /** Out of line, the call that let the Suspend through is not known: the method's first line is none of another statement, at least. */
    private void firstLine() {
        for (AbstractInsnNode insn : plan.flow.code) {
            if (insn instanceof LineNumberNode) {
                body.line(((LineNumberNode) insn).line);
                return;
            }
        }
    }

    private void escaped() {
        if (where == null) {
            where = Suspects.where(plan, this::canEscape);
        }
        out.add(new LdcInsnNode(where));
        out.add(new MethodInsnNode(INVOKESTATIC, Runtime.SUSPEND, "escaped", "(Ljava/lang/Throwable;Ljava/lang/String;)Ljava/lang/Throwable;", false));
    }

    /**
     * For a handler of the program that catches PinnedError and nothing above it: where a Suspend goes that the same range must catch; null if none can
     * come. The code there turns it into the PinnedError.
     */
    LabelNode converter(TryCatchBlockNode e) {
        boolean needed = false;
        for (int i = plan.flow.index(e.start); Runtime.PINNED.equals(e.type) && i < plan.flow.index(e.end); i++) {
            needed |= plan.mode == Mode.EXCEPTIONS && canEscape(i);
        }
        return needed ? converters.computeIfAbsent(e.handler, any -> new LabelNode()) : null;
    }

    private void convert(LabelNode handler, LabelNode converter) {
        int i = plan.flow.index(handler);
        while (!(plan.flow.code[i] instanceof FrameNode)) {
            i++;
        }
        FrameNode frame = body.frame(i);
        out.add(converter);
        out.add(new FrameNode(F_NEW, frame.local.size(), frame.local.toArray(), 1, new Object[] {Runtime.SUSPEND}));
        firstLine();
        escaped();
        out.add(new TypeInsnNode(CHECKCAST, Runtime.PINNED));
        out.add(new JumpInsnNode(GOTO, body.label(handler)));
    }

    /** Behind an instruction. With flags a suspension does not throw: a call that is no site may have returned a dummy value. */
    void after(int i) {
        AbstractInsnNode insn = plan.flow.code[i];
        boolean isCall = insn instanceof MethodInsnNode || insn instanceof InvokeDynamicInsnNode;
        if (plan.mode == Mode.FLAGS && isCall && canEscape(i) && !isOwn(insn)) {
            out.add(new LdcInsnNode(plan.where));
            out.add(new MethodInsnNode(INVOKESTATIC, Runtime.SUSPEND, "returned", "(Ljava/lang/String;)V", false));
        }
    }

    /** Whether a method of this class is called, which has looked itself. */
    private boolean isOwn(AbstractInsnNode insn) {
        return (insn.getOpcode() == INVOKESTATIC || insn.getOpcode() == INVOKESPECIAL) && ((MethodInsnNode) insn).owner.equals(plan.owner);
    }

    /** Before an instruction is written. */
    void before(int i) {
        if (!plan.flow.isReal(i)) {
            return;
        }
        if (current == null || current.kind != kinds[i]) {
            end();
            current = new Range(kinds[i]);
            ranges.add(current);
            out.add(current.start);
        }
        current.needed |= canEscape(i);
    }

    /** Behind the last. */
    void end() {
        if (current != null) {
            out.add(current.end);
            current = null;
        }
    }

    /** The handlers over the whole body, and the code that makes errors for the program's. */
    void handlers() {
        converters.forEach(this::convert);
        for (Kind kind : new Kind[] {Kind.NORMAL, Kind.BEFORE_SUPER}) {
            LabelNode handler = new LabelNode();
            boolean used = false;
            for (Range r : ranges) {
                if (r.kind == kind && r.needed && plan.mode == Mode.EXCEPTIONS) {
                    body.entries.add(new TryCatchBlockNode(r.start, r.end, handler, Runtime.SUSPEND));
                    used = true;
                }
            }
            if (used) {
                Frames locals = new Frames();
                out.add(handler);
                out.add((kind == Kind.BEFORE_SUPER ? locals.set(0, UNINITIALIZED_THIS) : locals).node(Runtime.SUSPEND));
                firstLine();
                escaped();
                out.add(new InsnNode(ATHROW));
            }
        }
    }
}
