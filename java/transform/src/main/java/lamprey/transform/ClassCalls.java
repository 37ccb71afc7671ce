package lamprey.transform;

import java.util.Map;
import lamprey.transform.analysis.Aliases;
import lamprey.transform.analysis.CallGraph;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/** What the weaver is told of a class. */
final class ClassCalls implements Calls {
    private final ClassNode type;
    private final CallGraph graph;
    private final Map<MethodNode, Boolean> suspending;
    private final Map<String, String> aliases;

    ClassCalls(ClassNode type, CallGraph graph, Map<MethodNode, Boolean> suspending) {
        this.type = type;
        this.graph = graph;
        this.suspending = suspending;
        aliases = Aliases.of(type);
    }

    @Override
    public boolean suspends(MethodNode method) {
        return suspending.getOrDefault(method, false);
    }

    @Override
    public boolean suspends(MethodInsnNode call) {
        return graph.suspends(type, call);
    }

    @Override
    public String aliases(MethodNode method) {
        return aliases.getOrDefault(method.name + method.desc, "");
    }
}
