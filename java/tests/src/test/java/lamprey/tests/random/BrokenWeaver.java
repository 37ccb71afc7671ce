package lamprey.tests.random;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TryCatchBlockNode;

/** The weaver with a mistake: the tests must find it. */
final class BrokenWeaver implements Weaver, Opcodes {
    /** What is wrong with the output. */
    enum Mistake {
        /** Some saved values come back as zero. */
        FORGETS_A_VALUE,
        /** In some methods a handler of the program no longer covers the last call it should. */
        LOSES_A_HANDLER_OF_THE_PROGRAM,
        /** In some methods one call lets a suspension pass without saving a frame. */
        LOSES_A_FRAME
    }

    private final Weaver real;
    private final Mistake mistake;

    BrokenWeaver(Weaver real, Mistake mistake) {
        this.real = real;
        this.mistake = mistake;
    }

    @Override
    public Map<String, byte[]> weave(Map<String, byte[]> plain) {
        Map<String, byte[]> all = new LinkedHashMap<>();
        real.weave(plain).forEach((name, file) -> all.put(name, plain.containsKey(name) ? broken(file) : file));
        return all;
    }

    private byte[] broken(byte[] file) {
        ClassNode type = new ClassNode();
        new ClassReader(file).accept(type, 0);
        for (MethodNode m : type.methods) {
            boolean twin = m.name.contains("$pico");
            switch (mistake) {
                case FORGETS_A_VALUE:
                    if (twin) {
                        forgetValues(m);
                    }
                    break;
                case LOSES_A_HANDLER_OF_THE_PROGRAM:
                    if (twin) {
                        m.tryCatchBlocks.removeIf(t -> t.type != null && t.type.startsWith("lamprey/tests/"));
                    }
                    break;
                default:
                    loseFrame(m);
            }
        }
        ClassWriter out = new ClassWriter(0);
        type.accept(out);
        return out.toByteArray();
    }

    /** Every third read of a saved primitive. */
    private static void forgetValues(MethodNode m) {
        int n = 0;
        for (AbstractInsnNode insn : m.instructions.toArray()) {
            if (insn.getOpcode() != GETFIELD) {
                continue;
            }
            FieldInsnNode read = (FieldInsnNode) insn;
            if (!read.owner.contains("$pico") || read.name.equals("site") || Type.getType(read.desc).getSort() >= Type.ARRAY || n++ % 3 != 0) {
                continue;
            }
            int zero = read.desc.equals("J") ? LCONST_0 : read.desc.equals("F") ? FCONST_0 : read.desc.equals("D") ? DCONST_0 : ICONST_0;
            m.instructions.insert(read, new InsnNode(zero));
            m.instructions.set(read, new InsnNode(POP));
        }
    }

    private static void loseFrame(MethodNode m) {
        List<TryCatchBlockNode> saving = new ArrayList<>();
        for (TryCatchBlockNode t : m.tryCatchBlocks) {
            if ("lamprey/instrument/Suspend".equals(t.type)) {
                saving.add(t);
            }
        }
        if (saving.size() > 2) {
            m.tryCatchBlocks.remove(saving.get(1));
        }
    }
}
