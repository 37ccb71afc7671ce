package lamprey.transform.method;

import org.objectweb.asm.tree.AbstractInsnNode;

/** A method has an instruction that cannot be transformed. */
final class Unsupported extends Exception {
    private static final long serialVersionUID = 1;

    /** Where; null if the method as a whole is meant. */
    final transient AbstractInsnNode at;

    Unsupported(AbstractInsnNode at, String reason) {
        super(reason);
        this.at = at;
    }
}
