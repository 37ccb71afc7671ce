package lamprey.transform.rewrite;

import java.util.ArrayList;
import java.util.List;
import lamprey.transform.analysis.CallGraph;
import lamprey.transform.analysis.Lambda;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TypeInsnNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Makes a lambda of each method reference whose target can suspend. Then the class that the JVM generates only calls a method of this class and returns
 * its result, and boxing and casts happen in code that can be suspended.
 *
 * <p>In classes that are transformed, also of references whose target is not: it may call back a lambda of the same class, by the same interface, and
 * the runtime could not tell its call from the reference's. The body that is made here notices the suspension that passes through it.
 */
public final class References {
    /** Of generated bodies; javac's own begin with {@code lambda$} too. */
    private static final String NAME = "lambda$pico$";

    private final ClassNode type;
    private final CallGraph graph;
    private final List<MethodNode> bodies = new ArrayList<>();
    private final List<Lambda> serialisable = new ArrayList<>();

    private References(ClassNode type, CallGraph graph) {
        this.type = type;
        this.graph = graph;
    }

    /** Changes the class in place. */
    public static void rewrite(ClassNode type, CallGraph graph) {
        References r = new References(type, graph);
        boolean transformed = type.methods.stream().anyMatch(m -> graph.suspends(type, m));
        for (MethodNode m : type.methods) {
            for (AbstractInsnNode i = m.instructions.getFirst(); i != null; i = i.getNext()) {
                Lambda l = i instanceof InvokeDynamicInsnNode ? Lambda.of((InvokeDynamicInsnNode) i) : null;
                if (l != null && !r.isBody(l) && (graph.suspends(l.body) || transformed && graph.canCallBack(l.body))) {
                    r.replace(m, l);
                }
            }
        }
        type.methods.addAll(r.bodies);
        Deserialisation.add(type, r.serialisable);
    }

    /** A method of this class that nothing overrides, whose result needs no conversion, is a lambda's body as it stands. */
    private boolean isBody(Lambda l) {
        if (!l.body.getOwner().equals(type.name) || l.makesNew() || !l.passesResultOn()) {
            return false;
        }
        for (MethodNode m : type.methods) {
            if (m.name.equals(l.body.getName()) && m.desc.equals(l.body.getDesc())) {
                return (m.access & (Opcodes.ACC_STATIC | Opcodes.ACC_PRIVATE)) != 0;
            }
        }
        return false;
    }

    private void replace(MethodNode in, Lambda l) {
        Type[] captured = Type.getArgumentTypes(l.site.desc);
        Type[] passed = l.instantiated.getArgumentTypes();
        Type[] all = new Type[captured.length + passed.length];
        System.arraycopy(captured, 0, all, 0, captured.length);
        System.arraycopy(passed, 0, all, captured.length, passed.length);
        Type result = l.instantiated.getReturnType();
        boolean inInterface = (type.access & Opcodes.ACC_INTERFACE) != 0;
        MethodNode body = new MethodNode(Opcodes.ASM9, Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC | Opcodes.ACC_SYNTHETIC, newName(),
            Type.getMethodDescriptor(result, all), null, null);
        code(body.instructions, l, all, result);
        int size = Type.getArgumentsAndReturnSizes(body.desc) >> 2;
        body.maxLocals = size - 1;
        // NEW and DUP, then the arguments; a value may be converted to a wider one.
        body.maxStack = size + 4;
        bodies.add(body);
        l.site.bsmArgs[1] = new Handle(Opcodes.H_INVOKESTATIC, type.name, body.name, body.desc, inInterface);
        // In the method that makes lambdas of their serialised form, the original name must still find its reference.
        if (l.isSerializable() && !in.name.equals("$deserializeLambda$")) {
            serialisable.add(l);
        }
    }

    private String newName() {
        int n = 0;
        for (MethodNode m : type.methods) {
            n += m.name.startsWith(NAME) ? 1 : 0;
        }
        return NAME + (n + bodies.size());
    }

    private static void code(InsnList code, Lambda l, Type[] all, Type result) {
        Handle h = l.body;
        int tag = h.getTag();
        if (l.makesNew()) {
            code.add(new TypeInsnNode(Opcodes.NEW, h.getOwner()));
            code.add(new InsnNode(Opcodes.DUP));
        }
        Type[] declared = Type.getArgumentTypes(h.getDesc());
        boolean receiver = tag != Opcodes.H_INVOKESTATIC && !l.makesNew();
        int slot = 0;
        for (int i = 0; i < all.length; i++) {
            code.add(new VarInsnNode(all[i].getOpcode(Opcodes.ILOAD), slot));
            slot += all[i].getSize();
            Type to = !receiver ? declared[i] : i == 0 ? Type.getObjectType(h.getOwner()) : declared[i - 1];
            Conversions.convert(code, all[i], to);
        }
        int op = tag == Opcodes.H_INVOKESTATIC ? Opcodes.INVOKESTATIC : tag == Opcodes.H_INVOKEINTERFACE ? Opcodes.INVOKEINTERFACE
            : tag == Opcodes.H_INVOKEVIRTUAL ? Opcodes.INVOKEVIRTUAL : Opcodes.INVOKESPECIAL;
        code.add(new MethodInsnNode(op, h.getOwner(), h.getName(), h.getDesc(), h.isInterface()));
        Conversions.convert(code, l.makesNew() ? Type.getObjectType(h.getOwner()) : Type.getReturnType(h.getDesc()), result);
        code.add(new InsnNode(result.getOpcode(Opcodes.IRETURN)));
    }
}
