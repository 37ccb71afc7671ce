package lamprey.transform.analysis;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import lamprey.transform.types.TypeInfo;
import lamprey.transform.types.Types;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.MethodInsnNode;

/**
 * What is taken to suspend without being seen to: all abstract methods of an interface or class, written {@code java.lang.Runnable}, since
 * another jar may implement it; or the calls of one method in one class, {@code some.Caller:java.lang.Object.toString}.
 */
public final class Assumptions {
    private final Set<String> types = new HashSet<>();
    private final Set<String> calls = new HashSet<>();

    /** From their text. */
    public Assumptions(List<String> texts) {
        for (String text : texts) {
            String t = text.trim().replace('.', '/');
            (t.contains(":") ? calls : types).add(t);
        }
    }

    /** Whether this call of this class is one of them. */
    boolean covers(String caller, MethodInsnNode call) {
        return !calls.isEmpty() && calls.contains(caller + ":" + call.owner + "/" + call.name);
    }

    /** The methods of the types. */
    Methods keys(Types known) {
        return use -> {
            for (String name : types) {
                TypeInfo t = known.get(name);
                if (t == null) {
                    throw new IllegalArgumentException("the class " + name.replace('/', '.') + ", whose methods are assumed to suspend, is not found");
                }
                t.methods.forEach((key, access) -> {
                    if ((access & Opcodes.ACC_ABSTRACT) != 0) {
                        use.accept(name, key);
                    }
                });
            }
        };
    }

    /** A sequence of types and keys. */
    interface Methods {
        void forEach(BiConsumer<String, String> use);
    }
}
