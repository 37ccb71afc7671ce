package lamprey.transform;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.commons.CodeSizeEvaluator;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;

/** Finds methods that HotSpot would have compiled, and will not, as they have grown: it only interprets those of more than 8000 bytes. */
final class HugeMethods {
    private static final int LIMIT = 8000;

    /** Sizes before the transformation, by name and descriptor. */
    private final Map<String, Integer> before = new HashMap<>();

    HugeMethods(ClassNode c) {
        for (MethodNode m : c.methods) {
            before.put(m.name + m.desc, size(m));
        }
    }

    /** The class is transformed. */
    void report(ClassNode c, List<Refusal> warnings) {
        for (MethodNode m : c.methods) {
            int size = size(m);
            Integer old = before.get(m.name + m.desc);
            if (size > LIMIT && old != null && old <= LIMIT) {
                warnings.add(new Refusal(c.name.replace('/', '.'), m.name, -1, "the transformed method has some " + size + " bytes of code, and had " + old
                    + "; HotSpot does not compile methods of more than " + LIMIT + ", so it will be slow. Split it, or run with -XX:-DontCompileHugeMethods"));
            }
        }
    }

    private static int size(MethodNode m) {
        // The longest instructions, but for switches, have five bytes; small methods are not measured.
        if (m.instructions.size() < LIMIT / 5) {
            return 0;
        }
        CodeSizeEvaluator size = new CodeSizeEvaluator(null);
        m.accept(size);
        return size.getMinSize();
    }
}
