package lamprey.transform.method;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import lamprey.transform.Mode;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.TypeInsnNode;
import org.objectweb.asm.tree.VarInsnNode;

/** Writes a call that can suspend, and, out of line, the code that saves the frame when it does. */
final class SiteWriter implements Opcodes {
    private final BodyWriter body;
    private final Plan plan;
    private final InsnList out;
    private final boolean flags;
    private final SaveWriter saveWriter;
    /** The sites that have been written, and where they are saved. */
    private final Map<CallSite, LabelNode> handlers = new LinkedHashMap<>();

    SiteWriter(BodyWriter body) {
        this.body = body;
        plan = body.plan;
        out = body.out;
        flags = plan.mode == Mode.FLAGS;
        saveWriter = new SaveWriter(body);
    }

    void call(CallSite site) {
        LabelNode handler = new LabelNode();
        handlers.put(site, handler);
        operands(site, site.spillsBelow && !flags);
        MethodInsnNode c = site.call;
        MethodInsnNode call = new MethodInsnNode(c.getOpcode(), c.owner, c.name, c.desc, c.itf);
        if (!flags && site.initialisesThis()) {
            out.add(new InsnNode(ACONST_NULL));
            call.desc = ReturningConstructor.desc(c.desc);
        }
        if (returnsWhenSuspended(site)) {
            out.add(call);
            out.add(new MethodInsnNode(INVOKESTATIC, Runtime.EXECUTION, "unwinding", "()L" + Runtime.SUSPEND + ";", false));
            out.add(new InsnNode(DUP));
            out.add(new JumpInsnNode(IFNONNULL, handler));
            out.add(new InsnNode(POP));
        } else {
            LabelNode start = new LabelNode();
            LabelNode end = new LabelNode();
            out.add(start);
            out.add(call);
            out.add(end);
            body.siteEntries.add(new TryCatchBlockNode(start, end, handler, Runtime.SUSPEND));
        }
        if (body.isTwin()) {
            behind(site);
        }
    }

    /** Nothing can be caught from {@code super(..)}: HotSpot accepts no handler there. So a constructor is called that returns when it suspends. */
    private boolean returnsWhenSuspended(CallSite site) {
        return flags || site.initialisesThis();
    }

    /** In a twin: where a resumed call goes on. */
    void behind(CallSite site) {
        LabelNode label = new LabelNode();
        body.behind.put(site, label);
        out.add(label);
        out.add(Frames.of(site.after, site.liveNext).node(Frames.types(site.after.stack)));
    }

    /** A constructor's call that does not suspend, whose NEW was moved. */
    void construct(CallSite site) {
        operands(site, false);
        out.add(new MethodInsnNode(INVOKESPECIAL, site.call.owner, "<init>", site.call.desc, false));
    }

    /** Copies to temporaries what the handler needs, and makes the object whose NEW was moved. The stack is the same afterwards, but for the object. */
    private void operands(CallSite site, boolean spillsBelow) {
        boolean copiesReceiver = site.isVirtual() && site.receiver.local < 0;
        int copies = site.call instanceof MovedInit ? ((MovedInit) site.call).copies + 1 : 0;
        if (!spillsBelow && !copiesReceiver && copies == 0) {
            return;
        }
        for (int j = site.args.size() - 1; j >= 0; j--) {
            out.add(new VarInsnNode(Types.opcode(site.args.get(j).type, ISTORE), site.argTemps[j]));
        }
        if (spillsBelow) {
            if (site.receiver != null) {
                stash(site.receiver, site.receiverTemp);
            }
            for (int j = site.below.size() - 1; j >= site.lowest; j--) {
                stash(site.below.get(j), site.belowTemps[j]);
            }
            for (int j = site.lowest; j < site.below.size(); j++) {
                unstash(site.below.get(j), site.belowTemps[j]);
            }
            if (site.receiver != null) {
                unstash(site.receiver, site.receiverTemp);
            }
        } else if (copiesReceiver) {
            out.add(new InsnNode(DUP));
            out.add(new VarInsnNode(ASTORE, site.receiverTemp));
        }
        if (copies > 0) {
            out.add(new TypeInsnNode(NEW, site.call.owner));
            for (int n = 1; n < copies; n++) {
                out.add(new InsnNode(DUP));
            }
        }
        for (int j = 0; j < site.args.size(); j++) {
            out.add(new VarInsnNode(Types.opcode(site.args.get(j).type, ILOAD), site.argTemps[j]));
        }
    }

    private void stash(Value v, int temp) {
        if (v.local >= 0 || temp < 0) {
            out.add(new InsnNode(v.size() == 2 ? POP2 : POP));
        } else {
            out.add(new VarInsnNode(Types.opcode(v.type, ISTORE), temp));
        }
    }

    private void unstash(Value v, int temp) {
        if (v.local < 0 && temp < 0) {
            out.add(new InsnNode(ACONST_NULL));
        } else {
            out.add(new VarInsnNode(Types.opcode(v.type, ILOAD), v.local >= 0 ? v.local : temp));
        }
    }

    /** The code that saves, for each site written. */
    void handlers() {
        for (Map.Entry<CallSite, LabelNode> e : handlers.entrySet()) {
            CallSite site = e.getKey();
            out.add(e.getValue());
            if (returnsWhenSuspended(site)) {
                unwind(site);
            } else {
                FrameNode frame = locals(site, site.before, true).node(Runtime.SUSPEND);
                out.add(frame);
                line(site, e.getValue());
            }
            saveWriter.save(site);
            if (flags || body.form != BodyWriter.Form.ORIGINAL) {
                saveWriter.returnDummy();
            } else {
                out.add(new InsnNode(ATHROW));
            }
        }
    }

    private void line(CallSite site, LabelNode label) {
        if (site.line >= 0) {
            out.add(new LineNumberNode(site.line, label));
        }
    }

    /** The variables at a handler. */
    private Frames locals(CallSite site, TypeState state, boolean spilled) {
        Frames f = Frames.of(state, body.isTwin() ? site.liveBefore : null);
        for (int j = 0; j < site.below.size() && spilled; j++) {
            if (site.belowTemps[j] >= 0) {
                f.set(site.belowTemps[j], site.below.get(j).type);
            }
        }
        boolean hasReceiver = site.receiverTemp >= 0 && (site.isVirtual() || spilled && site.spillsBelow);
        return hasReceiver ? f.set(site.receiverTemp, site.receiver.type) : f;
    }

    /** Where the call has returned: takes the operands off the stack, where they are still. */
    private void unwind(CallSite site) {
        List<Object> stack = new ArrayList<>(Frames.types(site.after.stack));
        stack.add(Runtime.SUSPEND);
        out.add(locals(site, site.after, false).node(stack));
        line(site, handlers.get(site));
        if (site.lowest < 0) {
            return;
        }
        int suspend = plan.endOfTemps;
        out.add(new VarInsnNode(ASTORE, suspend));
        for (int j = site.after.stack.size() - 1; j >= site.lowest; j--) {
            if (j < site.below.size()) {
                stash(site.below.get(j), site.belowTemps[j]);
            } else {
                out.add(new InsnNode(site.after.stack.get(j).size() == 2 ? POP2 : POP));
            }
        }
        out.add(new VarInsnNode(ALOAD, suspend));
    }
}
