package lamprey.transform.method;

import java.util.Map;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.MethodInsnNode;

/**
 * A constructor's call whose NEW and DUPs have been taken away from before the arguments. It takes the arguments from the stack and leaves {@link
 * #copies} references to the new object. Written out by {@link BodyWriter}.
 */
final class MovedInit extends MethodInsnNode {
    final int copies;

    MovedInit(String owner, String desc, int copies) {
        super(Opcodes.INVOKESPECIAL, owner, "<init>", desc, false);
        this.copies = copies;
    }

    @Override
    public AbstractInsnNode clone(Map<LabelNode, LabelNode> labels) {
        throw new IllegalStateException("written out, never copied");
    }
}
