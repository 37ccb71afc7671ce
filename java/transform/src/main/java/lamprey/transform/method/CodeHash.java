package lamprey.transform.method;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.IincInsnNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.MultiANewArrayInsnNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.TypeInsnNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * A hash of what a frame depends on: the method's instructions and exception table, as they were before the transformation, and which values each site
 * saves in which field. Line numbers, names of variables and other methods do not matter.
 */
final class CodeHash {
    private final StringBuilder text = new StringBuilder();
    private final Map<LabelNode, Integer> places = new HashMap<>();

    private CodeHash() {}

    static String code(String owner, MethodNode method) {
        CodeHash h = new CodeHash();
        h.text.append(owner).append('.').append(method.name).append(method.desc).append(' ').append(method.access & 8).append('\n');
        int n = 0;
        for (AbstractInsnNode insn : method.instructions) {
            if (insn instanceof LabelNode) {
                h.places.put((LabelNode) insn, n);
            } else if (insn.getOpcode() >= 0) {
                n++;
            }
        }
        for (AbstractInsnNode insn : method.instructions) {
            if (insn.getOpcode() >= 0) {
                h.text.append(insn.getOpcode());
                h.arguments(insn);
                h.text.append('\n');
            }
        }
        for (TryCatchBlockNode e : method.tryCatchBlocks) {
            h.add("try").label(e.start).label(e.end).label(e.handler).add(e.type).text.append('\n');
        }
        return h.text.toString();
    }

    private CodeHash add(Object o) {
        text.append(' ').append(o);
        return this;
    }

    private CodeHash label(LabelNode label) {
        return add(places.get(label));
    }

    private void arguments(AbstractInsnNode insn) {
        switch (insn.getType()) {
            case AbstractInsnNode.INT_INSN: add(((IntInsnNode) insn).operand); break;
            case AbstractInsnNode.VAR_INSN: add(((VarInsnNode) insn).var); break;
            case AbstractInsnNode.TYPE_INSN: add(((TypeInsnNode) insn).desc); break;
            case AbstractInsnNode.FIELD_INSN: add(((FieldInsnNode) insn).owner).add(((FieldInsnNode) insn).name).add(((FieldInsnNode) insn).desc); break;
            case AbstractInsnNode.METHOD_INSN: add(((MethodInsnNode) insn).owner).add(((MethodInsnNode) insn).name).add(((MethodInsnNode) insn).desc); break;
            case AbstractInsnNode.INVOKE_DYNAMIC_INSN:
                InvokeDynamicInsnNode indy = (InvokeDynamicInsnNode) insn;
                add(indy.name).add(indy.desc).add(indy.bsm);
                for (Object arg : indy.bsmArgs) {
                    constant(arg);
                }
                break;
            case AbstractInsnNode.JUMP_INSN: label(((JumpInsnNode) insn).label); break;
            case AbstractInsnNode.LDC_INSN: constant(((LdcInsnNode) insn).cst); break;
            case AbstractInsnNode.IINC_INSN: add(((IincInsnNode) insn).var).add(((IincInsnNode) insn).incr); break;
            case AbstractInsnNode.TABLESWITCH_INSN:
                add(((TableSwitchInsnNode) insn).min).label(((TableSwitchInsnNode) insn).dflt);
                ((TableSwitchInsnNode) insn).labels.forEach(this::label);
                break;
            case AbstractInsnNode.LOOKUPSWITCH_INSN:
                add(((LookupSwitchInsnNode) insn).keys).label(((LookupSwitchInsnNode) insn).dflt);
                ((LookupSwitchInsnNode) insn).labels.forEach(this::label);
                break;
            case AbstractInsnNode.MULTIANEWARRAY_INSN: add(((MultiANewArrayInsnNode) insn).desc).add(((MultiANewArrayInsnNode) insn).dims); break;
            default:
        }
    }

    private void constant(Object c) {
        String s = String.valueOf(c);
        add(c.getClass().getSimpleName()).add(s.length()).add(s);
    }

    /** The sites and fields belong to the hash. */
    static long of(String code, List<CallSite> sites) {
        StringBuilder text = new StringBuilder(code);
        for (CallSite site : sites) {
            text.append("site ").append(site.call.owner).append('.').append(site.call.name).append(site.call.desc);
            for (CallSite.Saved s : site.saved) {
                text.append(' ').append(s.local).append(':').append(s.operand).append(':').append(s.field.name).append(s.field.desc()).append(s.type);
            }
            text.append('\n');
        }
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.toString().getBytes(StandardCharsets.UTF_8));
            long hash = 0;
            for (int i = 0; i < 8; i++) {
                hash = hash << 8 | digest[i] & 0xff;
            }
            return hash;
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("each Java platform has SHA-256", e);
        }
    }
}
