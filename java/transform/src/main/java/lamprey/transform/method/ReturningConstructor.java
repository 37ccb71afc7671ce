package lamprey.transform.method;

import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Makes the copy of a constructor that returns when it suspends, instead of throwing. It is what {@code super(..)} and {@code this(..)} call. Each
 * constructor that may suspend has one, even if no call in it is a site, so that those who call it need not know.
 */
final class ReturningConstructor implements Opcodes {
    private ReturningConstructor() {}

    /** With a last parameter that says only which constructor it is: the body uses its variable as before. */
    static String desc(String original) {
        return original.substring(0, original.length() - 2) + "L" + Runtime.RETURNING + ";)V";
    }

    static MethodNode of(Plan plan) {
        MethodNode m = plan.method;
        MethodNode copy = new MethodNode(m.access & ~ACC_VARARGS | ACC_SYNTHETIC, m.name, desc(m.desc), null, m.exceptions.toArray(new String[0]));
        if (plan.sites.isEmpty()) {
            delegate(copy, plan.owner, m.desc);
        } else {
            BodyWriter body = new BodyWriter(plan, BodyWriter.Form.RETURNING, null);
            body.body();
            body.finish(copy);
        }
        return copy;
    }

    private static void delegate(MethodNode copy, String owner, String desc) {
        copy.instructions.add(new VarInsnNode(ALOAD, 0));
        int k = 1;
        for (Type arg : Type.getArgumentTypes(desc)) {
            copy.instructions.add(new VarInsnNode(arg.getOpcode(ILOAD), k));
            k += arg.getSize();
        }
        copy.instructions.add(new MethodInsnNode(INVOKESPECIAL, owner, "<init>", desc, false));
        copy.instructions.add(new InsnNode(RETURN));
    }
}
