package lamprey.transform.method;

import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.VarInsnNode;

/** Writes how a site's frame is saved, once the values are in variables, and how the method is left after that. */
final class SaveWriter implements Opcodes {
    private final BodyWriter body;
    private final Plan plan;
    private final InsnList out;

    SaveWriter(BodyWriter body) {
        this.body = body;
        plan = body.plan;
        out = body.out;
    }

    /** The Suspend is on the stack, before and afterwards. A PinnedError is thrown where the program would catch it if the call had thrown it. */
    void save(CallSite site) {
        String save = plan.frame.save(site);
        out.add(number(site.number));
        if (save.startsWith(FrameClass.CAPTURE)) {
            large(site);
        } else {
            receiver(site);
            for (CallSite.Saved s : site.saved) {
                out.add(new VarInsnNode(Types.opcode(s.type, ILOAD), s.from));
            }
        }
        LabelNode start = new LabelNode();
        LabelNode end = new LabelNode();
        out.add(start);
        int paren = save.indexOf('(');
        out.add(new MethodInsnNode(INVOKESTATIC, plan.frame.name, save.substring(0, paren), save.substring(paren), false));
        out.add(end);
        for (TryCatchBlockNode e : site.handlersOfErrors()) {
            body.entries.add(new TryCatchBlockNode(start, end, body.label(e.handler), e.type));
        }
    }

    private void receiver(CallSite site) {
        out.add(site.isVirtual() ? new VarInsnNode(ALOAD, site.receiverVariable()) : new InsnNode(ACONST_NULL));
    }

    /** A frame with more values than a method can have parameters. The stack is: the Suspend, the site's number. */
    private void large(CallSite site) {
        String frame = plan.frame.name;
        out.add(new MethodInsnNode(INVOKESTATIC, frame, FrameClass.MAKE, "(I)L" + frame + ";", false));
        for (CallSite.Saved s : site.saved) {
            out.add(new InsnNode(DUP));
            out.add(new VarInsnNode(Types.opcode(s.type, ILOAD), s.from));
            out.add(new FieldInsnNode(PUTFIELD, frame, s.field.name, s.field.desc()));
        }
        receiver(site);
    }

    /**
     * Returns, with the Suspend on the stack. A twin always returns: it is called by the runtime only, and a Suspend that it threw would be looked up
     * through a call that has many targets.
     */
    void returnDummy() {
        Type result = body.isTwin() ? Twin.result(plan.owner, plan.method.name, plan.method.desc) : Type.getReturnType(plan.method.desc);
        out.add(body.isTwin() ? new MethodInsnNode(INVOKEVIRTUAL, Runtime.SUSPEND, "arrived", "()V", false) : new InsnNode(POP));
        Object type = Types.of(result);
        if (result.getSort() != Type.VOID) {
            out.add(new InsnNode(type instanceof String ? ACONST_NULL : LONG.equals(type) ? LCONST_0 : FLOAT.equals(type) ? FCONST_0
                : DOUBLE.equals(type) ? DCONST_0 : ICONST_0));
        }
        out.add(new InsnNode(result.getOpcode(IRETURN)));
    }

    private static AbstractInsnNode number(int n) {
        return n <= 5 ? new InsnNode(ICONST_0 + n) : n <= Short.MAX_VALUE
            ? new IntInsnNode(n <= Byte.MAX_VALUE ? BIPUSH : SIPUSH, n) : new LdcInsnNode(n);
    }
}
