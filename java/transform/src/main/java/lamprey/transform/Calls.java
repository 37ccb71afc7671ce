package lamprey.transform;

import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/** Which methods and calls can suspend. */
public interface Calls {
    /** Whether this method of the class at hand is to be transformed. */
    boolean suspends(MethodNode method);

    /** Whether this call, in a method of the class at hand, can suspend. */
    boolean suspends(MethodInsnNode call);

    /** For the body of a lambda: the interface methods by which it is called, each {@code name+desc}, separated by spaces; else empty. */
    String aliases(MethodNode method);
}
