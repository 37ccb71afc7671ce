package lamprey.transform.method;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.TypeInsnNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Makes the static method that goes on with a saved frame: it jumps behind the call that had suspended, with locals and operands as they were and the
 * call's result, or throws there what the call has thrown.
 */
final class Twin implements Opcodes {
    private final Plan plan;
    private final BodyWriter body;
    private final InsnList out;
    /** The variables that hold the frame and the Resume while locals are restored. */
    private final int frame;
    private final int resume;

    private Twin(Plan plan, BodyWriter body) {
        this.plan = plan;
        this.body = body;
        out = body.out;
        frame = plan.firstTemp;
        resume = plan.firstTemp + 1;
    }

    /** What a method's twin returns: a constructor's returns the object. */
    static Type result(String owner, String name, String desc) {
        return name.equals("<init>") ? Type.getObjectType(owner) : Type.getReturnType(desc);
    }

    static String desc(String frame, Type result) {
        return "(L" + frame + ";L" + Runtime.RESUME + ";)" + result.getDescriptor();
    }

    /** A constructor's twin is called {@code new$pico}: no method of a Java program is called {@code new}. */
    static String name(String method) {
        return (method.equals("<init>") ? "new" : method) + "$pico";
    }

    static MethodNode of(Plan plan) {
        MethodNode m = plan.method;
        Type result = result(plan.owner, m.name, m.desc);
        int access = ACC_STATIC | ACC_SYNTHETIC | (plan.isInterface ? ACC_PUBLIC : 0);
        MethodNode twin = new MethodNode(access, name(m.name), desc(plan.frame.name, result), null, new String[] {Runtime.THROWABLE});
        BodyWriter body = new BodyWriter(plan, BodyWriter.Form.TWIN, resumable(plan));
        new Twin(plan, body).write();
        body.finish(twin);
        return twin;
    }

    /** The instructions that can run after a resumption. */
    private static boolean[] resumable(Plan plan) {
        List<Integer> starts = new ArrayList<>();
        for (CallSite site : plan.sites) {
            starts.add(site.index + 1);
            for (TryCatchBlockNode e : site.handlers) {
                starts.add(plan.flow.index(e.handler));
            }
        }
        return plan.flow.reachable(starts);
    }

    private void write() {
        LabelNode[] cases = new LabelNode[plan.sites.size()];
        for (int i = 0; i < cases.length; i++) {
            cases[i] = new LabelNode();
        }
        LabelNode none = new LabelNode();
        out.add(new VarInsnNode(ALOAD, 0));
        out.add(new VarInsnNode(ASTORE, frame));
        out.add(new VarInsnNode(ALOAD, 1));
        out.add(new VarInsnNode(ASTORE, resume));
        out.add(new VarInsnNode(ALOAD, frame));
        out.add(new FieldInsnNode(GETFIELD, Runtime.FRAME, "site", "I"));
        out.add(new TableSwitchInsnNode(0, cases.length - 1, none, cases));
        InsnList prologue = takeOut();
        body.body();
        InsnList rest = takeOut();
        out.add(prologue);
        for (CallSite site : plan.sites) {
            out.add(cases[site.number]);
            restore(site, cases[site.number]);
        }
        out.add(none);
        out.add(variables(new Frames()).node());
        out.add(new VarInsnNode(ALOAD, frame));
        out.add(new MethodInsnNode(INVOKEVIRTUAL, Runtime.FRAME, "noSuchSite", "()Ljava/lang/IllegalStateException;", false));
        out.add(new InsnNode(ATHROW));
        out.add(rest);
    }

    /** Labels behind sites are known after the body has been written; its code comes last all the same. */
    private InsnList takeOut() {
        InsnList taken = new InsnList();
        taken.add(out);
        return taken;
    }

    private Frames variables(Frames f) {
        return f.set(frame, plan.frame.name).set(resume, Runtime.RESUME);
    }

    private void restore(CallSite site, LabelNode start) {
        out.add(variables(new Frames()).node());
        if (site.line >= 0) {
            out.add(new LineNumberNode(site.line, start));
        }
        BitSet restored = new BitSet();
        for (int k = site.liveAfter.nextSetBit(0); k >= 0; k = site.liveAfter.nextSetBit(k + 1)) {
            if (NULL.equals(site.before.local(k))) {
                out.add(new InsnNode(ACONST_NULL));
                out.add(new VarInsnNode(ASTORE, k));
                restored.set(k);
            }
        }
        for (CallSite.Saved s : site.saved) {
            if (s.local >= 0) {
                load(s);
                out.add(new VarInsnNode(Types.opcode(s.type, ISTORE), s.local));
                restored.set(s.local);
            }
        }
        LabelNode returned = new LabelNode();
        out.add(new VarInsnNode(ALOAD, resume));
        out.add(new FieldInsnNode(GETFIELD, Runtime.RESUME, "error", "Ljava/lang/Throwable;"));
        out.add(new JumpInsnNode(IFNULL, returned));
        fail(site);
        out.add(returned);
        out.add(variables(Frames.of(site.before, restored)).node());
        operands(site);
        result(site);
        out.add(new JumpInsnNode(GOTO, body.behind.get(site)));
    }

    /** Throws what the call has thrown, where the program would catch it. */
    private void fail(CallSite site) {
        LabelNode start = new LabelNode();
        LabelNode end = new LabelNode();
        out.add(start);
        out.add(new VarInsnNode(ALOAD, resume));
        out.add(new FieldInsnNode(GETFIELD, Runtime.RESUME, "error", "Ljava/lang/Throwable;"));
        out.add(new InsnNode(ATHROW));
        out.add(end);
        for (TryCatchBlockNode e : site.handlers) {
            body.entries.add(new TryCatchBlockNode(start, end, body.label(e.handler), e.type));
        }
    }

    private void load(CallSite.Saved s) {
        out.add(new VarInsnNode(ALOAD, frame));
        out.add(new FieldInsnNode(GETFIELD, plan.frame.name, s.field.name, s.field.desc()));
        if (s.type instanceof String && !Types.descriptor(s.type).equals(s.field.desc())) {
            out.add(new TypeInsnNode(CHECKCAST, (String) s.type));
        }
    }

    private void operands(CallSite site) {
        int next = 0;
        while (next < site.saved.size() && site.saved.get(next).local >= 0) {
            next++;
        }
        for (int j = 0; j < site.below.size(); j++) {
            Value v = site.below.get(j);
            if (NULL.equals(v.type)) {
                out.add(new InsnNode(ACONST_NULL));
            } else if (site.isInLiveLocal(j)) {
                out.add(new VarInsnNode(Types.opcode(v.type, ILOAD), v.local));
            } else {
                load(site.saved.get(next++));
            }
        }
    }

    private void result(CallSite site) {
        if (site.initialisesThis()) {
            reference(plan.owner);
            out.add(site.liveAfter.get(0) ? new VarInsnNode(ASTORE, 0) : new InsnNode(POP));
            return;
        }
        if (site.call instanceof MovedInit) {
            for (int n = 0; n < ((MovedInit) site.call).copies; n++) {
                if (n == 0) {
                    reference(site.call.owner);
                } else {
                    out.add(new InsnNode(DUP));
                }
            }
            return;
        }
        Type type = Type.getReturnType(site.call.desc);
        switch (type.getSort()) {
            case Type.VOID: break;
            case Type.OBJECT: reference(type.getInternalName()); break;
            case Type.ARRAY: reference(type.getDescriptor()); break;
            case Type.FLOAT:
            case Type.DOUBLE:
                field("real", "D");
                if (type.getSort() == Type.FLOAT) {
                    out.add(new InsnNode(D2F));
                }
                break;
            default:
                field("prim", "J");
                if (type.getSort() != Type.LONG) {
                    out.add(new InsnNode(L2I));
                }
        }
    }

    private void reference(String type) {
        field("ref", "Ljava/lang/Object;");
        if (!type.equals(Runtime.OBJECT)) {
            out.add(new TypeInsnNode(CHECKCAST, type));
        }
    }

    private void field(String name, String desc) {
        out.add(new VarInsnNode(ALOAD, resume));
        out.add(new FieldInsnNode(GETFIELD, Runtime.RESUME, name, desc));
    }
}
