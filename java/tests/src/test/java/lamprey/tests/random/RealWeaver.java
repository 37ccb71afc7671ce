package lamprey.tests.random;

import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import lamprey.transform.Calls;
import lamprey.transform.Mode;
import lamprey.transform.Woven;
import lamprey.transform.method.ClassWeaver;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/** The weaver under test, told which methods and calls of generated programs can suspend. */
final class RealWeaver implements Weaver {
    private static final Set<String> PRIMITIVES = new HashSet<>(Arrays.asList("yi", "yl", "yf", "yd", "ya", "yv", "yx", "lock", "unlock"));

    private final Mode mode;

    RealWeaver(Mode mode) {
        this.mode = mode;
    }

    @Override
    public Map<String, byte[]> weave(Map<String, byte[]> plain) {
        Map<String, byte[]> all = new LinkedHashMap<>();
        plain.forEach((name, file) -> {
            ClassNode type = new ClassNode();
            new ClassReader(file).accept(type, ClassReader.EXPAND_FRAMES);
            Woven woven = ClassWeaver.weave(type, new Generated(), mode);
            if (!woven.refusals.isEmpty()) {
                throw new IllegalStateException("refused: " + woven.refusals);
            }
            all.put(name, woven.classFile);
            all.putAll(woven.frames);
        });
        return all;
    }

    /** The call graph of generated programs: all may suspend but what is named as harmless. */
    private static final class Generated implements Calls {
        private static boolean own(String name, String desc) {
            return name.equals("<init>") ? !desc.equals("()V") : !name.startsWith("p") && !name.equals("reset") && !name.equals("select");
        }

        @Override
        public boolean suspends(MethodNode m) {
            return (m.access & Opcodes.ACC_ABSTRACT) == 0 && own(m.name, m.desc);
        }

        @Override
        public boolean suspends(MethodInsnNode call) {
            if (call.owner.startsWith("gen/")) {
                return own(call.name, call.desc);
            }
            return call.owner.equals(Emit.WORLD) && PRIMITIVES.contains(call.name) || call.name.equals("pass")
                || call.owner.equals("lamprey/tests/random/Fn");
        }

        @Override
        public String aliases(MethodNode m) {
            return m.name.startsWith("lambda$") ? "call(Ljava/lang/Object;J)Ljava/lang/Object;" : "";
        }
    }
}
