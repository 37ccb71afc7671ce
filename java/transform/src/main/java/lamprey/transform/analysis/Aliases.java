package lamprey.transform.analysis;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.MethodNode;

/** The interface methods by which the bodies of a class's lambdas are called. */
public final class Aliases {
    private Aliases() {}

    /** By key of the body: name and descriptor of each interface method, separated by spaces. */
    public static Map<String, String> of(ClassNode type) {
        Map<String, Set<String>> found = new HashMap<>();
        for (MethodNode m : type.methods) {
            for (AbstractInsnNode i = m.instructions.getFirst(); i != null; i = i.getNext()) {
                Lambda l = i instanceof InvokeDynamicInsnNode ? Lambda.of((InvokeDynamicInsnNode) i) : null;
                if (l != null && l.body.getOwner().equals(type.name) && l.passesResultOn()) {
                    Set<String> names = found.computeIfAbsent(l.body.getName() + l.body.getDesc(), k -> new LinkedHashSet<>());
                    l.descs.forEach(d -> names.add(l.name + d));
                }
            }
        }
        Map<String, String> aliases = new HashMap<>();
        found.forEach((body, names) -> aliases.put(body, String.join(" ", names)));
        return aliases;
    }
}
