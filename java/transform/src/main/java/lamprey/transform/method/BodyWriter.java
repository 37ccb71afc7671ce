package lamprey.transform.method;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.LocalVariableNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Writes a method's code anew, with its sites, in place or as the body of its twin.
 *
 * <p>In the twin, only what can be reached from behind a site is written, and frames have only the live locals, as a resumed method has no others. What it
 * has of a line may begin in the middle, so lines are said anew.
 *
 * <p>The exception table is, in this order: an entry for each site, the program's entries, those for the whole body ({@link Escapes}).
 */
final class BodyWriter implements Opcodes {
    /** What is written. */
    enum Form {
        /** The method itself, in place. */
        ORIGINAL,
        /** A copy of a constructor that returns when it suspends, instead of throwing; for {@code super(..)} and {@code this(..)}. */
        RETURNING,
        /** The twin. */
        TWIN
    }

    final Plan plan;
    final Form form;
    final InsnList out = new InsnList();
    final List<TryCatchBlockNode> siteEntries = new ArrayList<>();
    final List<TryCatchBlockNode> entries = new ArrayList<>();
    /** In a twin: where each site's case jumps to. */
    final Map<CallSite, LabelNode> behind = new HashMap<>();
    private final AbstractInsnNode[] code;
    private final boolean[] written;
    private final Map<LabelNode, LabelNode> labels = new HashMap<>();
    private final SiteWriter siteWriter;
    private final Escapes escapes;

    /** @param written in a twin, the instructions that it has; null for all */
    BodyWriter(Plan plan, Form form, boolean[] written) {
        this.plan = plan;
        this.form = form;
        this.written = written;
        code = plan.flow.code;
        for (AbstractInsnNode insn : code) {
            if (insn instanceof LabelNode) {
                labels.put((LabelNode) insn, form != Form.ORIGINAL ? new LabelNode() : (LabelNode) insn);
            }
        }
        siteWriter = new SiteWriter(this);
        escapes = new Escapes(this);
    }

    boolean isTwin() {
        return form == Form.TWIN;
    }

    LabelNode label(LabelNode original) {
        return labels.get(original);
    }

    boolean isWritten(int i) {
        return written == null || written[i];
    }

    /** The program's code, with its exception table. */
    void body() {
        if (form == Form.ORIGINAL) {
            plan.method.instructions.clear();
        }
        Map<LabelNode, Boolean> heads = escapes.heads();
        Boolean head = null;
        int line = -1;
        int said = -1;
        for (int i = 0; i < code.length; i++) {
            AbstractInsnNode insn = code[i];
            line = insn instanceof LineNumberNode ? ((LineNumberNode) insn).line : line;
            if (isTwin() && isWritten(i) && insn.getOpcode() >= 0 && line != said) {
                line(line);
            }
            said = isWritten(i) && (insn instanceof LineNumberNode || insn.getOpcode() >= 0) ? line : said;
            if (insn instanceof LabelNode) {
                Boolean here = heads.get(insn);
                head = here == null ? head : here;
                out.add(label((LabelNode) insn));
            } else if (isWritten(i)) {
                escapes.before(i);
                instruction(i, insn);
                escapes.after(i);
                if (head != null && insn instanceof FrameNode) {
                    escapes.head((FrameNode) insn, head);
                }
            } else if (plan.site(insn) != null) {
                siteWriter.behind(plan.site(insn));
            }
            head = insn.getOpcode() < 0 && !(insn instanceof FrameNode) ? head : null;
        }
        escapes.end();
        for (TryCatchBlockNode e : plan.method.tryCatchBlocks) {
            if (hasCode(e.start, e.end)) {
                TryCatchBlockNode mapped = form == Form.ORIGINAL ? e : new TryCatchBlockNode(label(e.start), label(e.end), label(e.handler), e.type);
                entries.add(mapped);
                LabelNode converter = escapes.converter(e);
                if (converter != null) {
                    entries.add(new TryCatchBlockNode(label(e.start), label(e.end), converter, Runtime.SUSPEND));
                }
            }
        }
        siteWriter.handlers();
        escapes.handlers();
    }

    /** What follows is of this line of the source. */
    void line(int line) {
        LabelNode here = new LabelNode();
        out.add(here);
        out.add(new LineNumberNode(line, here));
    }

    private boolean hasCode(LabelNode start, LabelNode end) {
        for (int i = plan.flow.index(start); i < plan.flow.index(end); i++) {
            if (plan.flow.isReal(i) && isWritten(i)) {
                return true;
            }
        }
        return false;
    }

    private void instruction(int i, AbstractInsnNode insn) {
        CallSite site = plan.site(insn);
        if (site != null) {
            siteWriter.call(site);
        } else if (insn instanceof MovedInit) {
            siteWriter.construct(plan.moved(insn));
        } else if (insn instanceof FrameNode) {
            out.add(frame(i));
        } else if (isTwin() && plan.isConstructor() && insn.getOpcode() == RETURN) {
            out.add(new VarInsnNode(ALOAD, 0));
            out.add(new InsnNode(ARETURN));
        } else {
            out.add(form == Form.ORIGINAL ? insn : insn.clone(labels));
        }
    }

    /** The frame of the code as it is here. */
    FrameNode frame(int i) {
        FrameNode f = (FrameNode) code[i];
        return isTwin() ? Frames.restrict(f, plan.live.before(i), labels) : form == Form.ORIGINAL ? f : (FrameNode) f.clone(labels);
    }

    /** Gives the code to a method; the original's debugging tables stay, a twin gets its own. */
    void finish(MethodNode target) {
        dropRepeatedFrames();
        target.instructions = out;
        target.tryCatchBlocks = new ArrayList<>(siteEntries);
        target.tryCatchBlocks.addAll(entries);
        if (form != Form.ORIGINAL && plan.method.localVariables != null) {
            target.localVariables = new ArrayList<>();
            for (LocalVariableNode v : plan.method.localVariables) {
                if (hasCode(v.start, v.end)) {
                    target.localVariables.add(new LocalVariableNode(v.name, v.desc, v.signature, label(v.start), label(v.end), v.index));
                }
            }
        }
    }

    /** Of frames at the same place the last is the program's own. */
    private void dropRepeatedFrames() {
        FrameNode pending = null;
        for (AbstractInsnNode insn : out.toArray()) {
            if (insn instanceof FrameNode) {
                if (pending != null) {
                    out.remove(pending);
                }
                pending = (FrameNode) insn;
            } else if (insn.getOpcode() >= 0) {
                pending = null;
            }
        }
    }
}
