package lamprey.transform.method;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;

/**
 * A call that can suspend: what is on the stack below its arguments, where the handler finds these operands and the receiver, and what must be saved.
 *
 * <p>The stack before the call is: {@link #below}, the receiver if there is one, {@link #args}. An operand that is not also in a local gets a temporary.
 */
final class CallSite implements Opcodes {
    /** A value that is in a frame while the thread is suspended. */
    static final class Saved {
        final Object type;
        /** The variable that holds it when the handler begins. */
        final int from;
        /** The local that gets it back; -1 for an operand. */
        final int local;
        /** Which of {@link CallSite#below} it is; -1 for a local. */
        final int operand;
        /** Set by {@link FrameLayout}. */
        FrameLayout.Field field;

        Saved(Object type, int from, int local, int operand) {
            this.type = type;
            this.from = from;
            this.local = local;
            this.operand = operand;
        }
    }

    /** Index of the instruction, and number of the site in the method. */
    final int index;
    final int number;
    final int line;
    final MethodInsnNode call;
    final TypeState before;
    final TypeState after;
    final List<Value> below;
    /** Null for static calls, and for constructors whose NEW has been moved. */
    final Value receiver;
    final List<Value> args;
    /** The entries of the exception table, in order. */
    final List<TryCatchBlockNode> handlers;

    /** Temporaries, by position in {@link #below}; -1 where a local holds the same value, or it is null. */
    final int[] belowTemps;
    int receiverTemp = -1;
    final int[] argTemps;
    /** Whether operands below are taken from the stack before the call. */
    final boolean spillsBelow;
    /** The first of them. */
    int lowest = -1;
    /** The first variable that is not a temporary. */
    int endOfTemps;

    BitSet liveBefore;
    BitSet liveAfter;
    BitSet liveNext;
    final List<Saved> saved = new ArrayList<>();

    CallSite(int index, int number, int line, MethodInsnNode call, TypeState before, Flow flow, int firstTemp) {
        this.index = index;
        this.number = number;
        this.line = line;
        this.call = call;
        this.before = before;
        after = before.copy();
        after.execute(call);
        handlers = flow.handlers(index);
        int size = before.stack.size();
        int n = Type.getArgumentTypes(call.desc).length;
        boolean hasReceiver = call.getOpcode() != INVOKESTATIC && !(call instanceof MovedInit);
        int bottom = size - n - (hasReceiver ? 1 : 0);
        below = new ArrayList<>(before.stack.subList(0, bottom));
        receiver = hasReceiver ? before.stack.get(bottom) : null;
        args = new ArrayList<>(before.stack.subList(size - n, size));
        belowTemps = new int[bottom];
        argTemps = new int[n];
        spillsBelow = assign(firstTemp);
    }

    private boolean assign(int firstTemp) {
        int next = firstTemp;
        boolean spills = false;
        for (int j = 0; j < below.size(); j++) {
            Value v = below.get(j);
            belowTemps[j] = -1;
            if (v.local < 0 && !NULL.equals(v.type)) {
                belowTemps[j] = next;
                next += v.size();
                lowest = spills ? lowest : j;
                spills = true;
            }
        }
        if (receiver != null && receiver.local < 0) {
            receiverTemp = next++;
        }
        for (int j = 0; j < args.size(); j++) {
            argTemps[j] = next;
            next += args.get(j).size();
        }
        endOfTemps = next;
        return spills;
    }

    /** s(tatic), x (special), v(irtual) or i(nterface). */
    char kind() {
        switch (call.getOpcode()) {
            case INVOKESTATIC: return 's';
            case INVOKESPECIAL: return 'x';
            case INVOKEVIRTUAL: return 'v';
            default: return 'i';
        }
    }

    /** The JVM selects the method by the receiver's class. */
    boolean isVirtual() {
        return call.getOpcode() == INVOKEVIRTUAL || call.getOpcode() == INVOKEINTERFACE;
    }

    /** {@code super(..)} or {@code this(..)} of a constructor. */
    boolean initialisesThis() {
        return receiver != null && UNINITIALIZED_THIS.equals(receiver.type);
    }

    /** The variable in which the handler finds an operand below the arguments; -1 for null. */
    int variable(int operand) {
        return belowTemps[operand] >= 0 ? belowTemps[operand] : below.get(operand).local;
    }

    /** The variable in which the handler finds the receiver. */
    int receiverVariable() {
        return receiverTemp >= 0 ? receiverTemp : receiver.local;
    }

    /** Locals that the handler reads although the code behind the call may not. */
    BitSet uses() {
        BitSet uses = new BitSet();
        for (Value v : below) {
            if (v.local >= 0) {
                uses.set(v.local);
            }
        }
        if (receiver != null && receiver.local >= 0) {
            uses.set(receiver.local);
        }
        return uses;
    }

    /** Decides what is saved. */
    void setLiveness(Liveness live) throws Unsupported {
        liveBefore = live.before(index);
        liveAfter = live.afterCall(index);
        liveNext = live.before(index + 1);
        for (int k = liveAfter.nextSetBit(0); k >= 0; k = liveAfter.nextSetBit(k + 1)) {
            Object type = before.local(k);
            if (k == 0 && initialisesThis() || NULL.equals(type)) {
                continue; // comes back as the result of the call, or as null
            }
            if (Types.isUninitialised(type)) {
                throw new Unsupported(call, "a variable holds an object whose constructor has not been called while " + name() + " can suspend");
            }
            if (TOP.equals(type)) {
                throw new Unsupported(call, "local " + k + " is read after a call, but has no type there; is the StackMapTable that of this code?");
            }
            saved.add(new Saved(type, k, k, -1));
        }
        for (int j = 0; j < below.size(); j++) {
            Value v = below.get(j);
            if (Types.isUninitialised(v.type)) {
                throw new Unsupported(call, "an object whose constructor has not been called is an operand while " + name() + " can suspend");
            }
            if (!NULL.equals(v.type) && !isInLiveLocal(j)) {
                saved.add(new Saved(v.type, variable(j), -1, j));
            }
        }
    }

    /** Whether an operand comes back with the local that holds the same value. */
    boolean isInLiveLocal(int operand) {
        int k = below.get(operand).local;
        return k >= 0 && liveAfter.get(k);
    }

    String name() {
        return call.owner.replace('/', '.') + "." + call.name;
    }

    /** Entries of the exception table that could catch what saving the frame throws. */
    List<TryCatchBlockNode> handlersOfErrors() {
        List<TryCatchBlockNode> some = new ArrayList<>();
        for (TryCatchBlockNode block : handlers) {
            if (block.type == null || Runtime.ERRORS.contains(block.type)) {
                some.add(block);
            }
        }
        return some.isEmpty() ? Collections.emptyList() : some;
    }
}
