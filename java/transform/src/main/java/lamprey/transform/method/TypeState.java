package lamprey.transform.method;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.IincInsnNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MultiANewArrayInsnNode;
import org.objectweb.asm.tree.TypeInsnNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * The types of locals and operands at one place of a method, advanced instruction by instruction between the frames of the StackMapTable.
 *
 * <p>A type is what a {@link FrameNode} has: an {@code Integer} of {@link Opcodes}, or an internal name; but an uninitialised object is the
 * {@code NEW} instruction that made it. A value of two words is one operand; as a local it takes its slot and a TOP.
 *
 * <p>An operand knows the local it was loaded from, as long as that local has not been stored to since.
 */
final class TypeState implements Opcodes {
    private Object[] locals;
    final List<Value> stack;

    private final String owner;

    private TypeState(String owner, Object[] locals, List<Value> stack) {
        this.owner = owner;
        this.locals = locals;
        this.stack = stack;
    }

    private static TypeState empty(String owner) {
        Object[] locals = new Object[8];
        Arrays.fill(locals, TOP);
        return new TypeState(owner, locals, new ArrayList<>());
    }

    /** At the start of a method. */
    static TypeState initial(String owner, int access, String name, String desc) {
        TypeState s = empty(owner);
        int k = 0;
        if ((access & ACC_STATIC) == 0) {
            s.setLocal(k++, name.equals("<init>") ? UNINITIALIZED_THIS : owner);
        }
        for (Type p : Type.getArgumentTypes(desc)) {
            s.setLocal(k, Types.of(p));
            k += p.getSize();
        }
        return s;
    }

    /** What a frame says. */
    static TypeState of(String owner, FrameNode frame) {
        TypeState s = empty(owner);
        int k = 0;
        for (Object type : frame.local) {
            s.setLocal(k, resolve(type));
            k += Types.size(type);
        }
        for (Object type : frame.stack) {
            s.push(resolve(type));
        }
        return s;
    }

    /** A label in a frame stands for the NEW instruction behind it. */
    static Object resolve(Object type) {
        if (!(type instanceof LabelNode)) {
            return type;
        }
        AbstractInsnNode i = (LabelNode) type;
        while (i.getOpcode() < 0) {
            i = i.getNext();
        }
        return i;
    }

    TypeState copy() {
        return new TypeState(owner, locals.clone(), new ArrayList<>(stack));
    }

    Object local(int k) {
        return k < locals.length ? locals[k] : TOP;
    }

    boolean hasUninitialisedThis() {
        for (Object type : locals) {
            if (UNINITIALIZED_THIS.equals(type)) {
                return true;
            }
        }
        return stack.stream().anyMatch(v -> UNINITIALIZED_THIS.equals(v.type));
    }

    /** Locals from here on are TOP. */
    int localsLength() {
        return locals.length;
    }

    private void setLocal(int k, Object type) {
        int last = k + Types.size(type) - 1;
        if (last >= locals.length) {
            int old = locals.length;
            locals = Arrays.copyOf(locals, Math.max(last + 1, 2 * old));
            Arrays.fill(locals, old, locals.length, TOP);
        }
        if (k > 0 && Types.size(locals[k - 1]) == 2) {
            locals[k - 1] = TOP;
        }
        locals[k] = type;
        if (last > k) {
            locals[last] = TOP;
        }
        for (int i = 0; i < stack.size(); i++) {
            Value v = stack.get(i);
            if (v.local >= 0 && v.local <= last && v.local + v.size() > k) {
                stack.set(i, new Value(v.type, -1));
            }
        }
    }

    void push(Object type) {
        stack.add(new Value(type, -1));
    }

    private Value pop() {
        return stack.remove(stack.size() - 1);
    }

    private void pop(int n) {
        for (int i = 0; i < n; i++) {
            pop();
        }
    }

    /** The operand at this depth; 0 is the top. */
    Value peek(int depth) {
        return stack.get(stack.size() - 1 - depth);
    }

    void execute(AbstractInsnNode insn) {
        int op = insn.getOpcode();
        switch (insn.getType()) {
            case AbstractInsnNode.INSN: simple(op); break;
            case AbstractInsnNode.INT_INSN:
                if (op == NEWARRAY) {
                    pop();
                    push(Types.primitiveArray(((IntInsnNode) insn).operand));
                } else {
                    push(INTEGER);
                }
                break;
            case AbstractInsnNode.VAR_INSN: variable((VarInsnNode) insn); break;
            case AbstractInsnNode.TYPE_INSN: type((TypeInsnNode) insn); break;
            case AbstractInsnNode.FIELD_INSN: field((FieldInsnNode) insn); break;
            case AbstractInsnNode.METHOD_INSN: call((MethodInsnNode) insn); break;
            case AbstractInsnNode.INVOKE_DYNAMIC_INSN: signature(((InvokeDynamicInsnNode) insn).desc); break;
            case AbstractInsnNode.JUMP_INSN: pop(op >= IF_ICMPEQ && op <= IF_ACMPNE ? 2 : op == GOTO ? 0 : 1); break;
            case AbstractInsnNode.LDC_INSN: push(Types.constant(((LdcInsnNode) insn).cst)); break;
            case AbstractInsnNode.IINC_INSN: setLocal(((IincInsnNode) insn).var, INTEGER); break;
            case AbstractInsnNode.TABLESWITCH_INSN:
            case AbstractInsnNode.LOOKUPSWITCH_INSN: pop(); break;
            case AbstractInsnNode.MULTIANEWARRAY_INSN:
                pop(((MultiANewArrayInsnNode) insn).dims);
                push(((MultiANewArrayInsnNode) insn).desc);
                break;
            default:
        }
    }

    private void variable(VarInsnNode insn) {
        if (insn.getOpcode() >= ISTORE) {
            setLocal(insn.var, pop().type);
        } else {
            stack.add(new Value(local(insn.var), insn.var));
        }
    }

    private void type(TypeInsnNode insn) {
        switch (insn.getOpcode()) {
            case NEW: push(insn); break;
            case ANEWARRAY:
                pop();
                push(insn.desc.startsWith("[") ? "[" + insn.desc : "[L" + insn.desc + ";");
                break;
            case CHECKCAST:
                pop();
                push(insn.desc);
                break;
            default: // INSTANCEOF
                pop();
                push(INTEGER);
        }
    }

    private void field(FieldInsnNode insn) {
        int op = insn.getOpcode();
        if (op == GETFIELD || op == PUTFIELD) {
            pop();
        }
        if (op == PUTFIELD || op == PUTSTATIC) {
            pop();
        } else {
            push(Types.of(Type.getType(insn.desc)));
        }
    }

    private void call(MethodInsnNode insn) {
        if (insn instanceof MovedInit) {
            pop(Type.getArgumentTypes(insn.desc).length);
            for (int i = 0; i < ((MovedInit) insn).copies; i++) {
                push(insn.owner);
            }
            return;
        }
        Type result = Type.getReturnType(insn.desc);
        pop(Type.getArgumentTypes(insn.desc).length);
        if (insn.getOpcode() != INVOKESTATIC) {
            Object receiver = pop().type;
            if (insn.name.equals("<init>")) {
                initialise(receiver, receiver instanceof TypeInsnNode ? ((TypeInsnNode) receiver).desc : null);
            }
        }
        if (result.getSize() > 0) {
            push(Types.of(result));
        }
    }

    private void initialise(Object uninitialised, String type) {
        Object ready = type == null ? owner : type;
        for (int k = 0; k < locals.length; k++) {
            if (locals[k] == uninitialised) {
                locals[k] = ready;
            }
        }
        for (int i = 0; i < stack.size(); i++) {
            if (stack.get(i).type == uninitialised) {
                stack.set(i, new Value(ready, stack.get(i).local));
            }
        }
    }

    private void signature(String desc) {
        pop(Type.getArgumentTypes(desc).length);
        Type result = Type.getReturnType(desc);
        if (result.getSize() > 0) {
            push(Types.of(result));
        }
    }

    private void simple(int op) {
        if (op >= DUP && op <= SWAP || op == POP || op == POP2) {
            Shuffle.apply(stack, op);
        } else if (op == AALOAD) {
            pop();
            push(Types.element(pop().type));
        } else if (op == ACONST_NULL) {
            push(NULL);
        } else {
            pop(Simple.pops(op));
            Object result = Simple.pushes(op);
            if (result != null) {
                push(result);
            }
        }
    }
}
