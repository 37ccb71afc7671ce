package lamprey.transform.rewrite;

import lamprey.transform.types.Types;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.commons.SerialVersionUIDAdder;
import org.objectweb.asm.tree.ClassNode;

/**
 * Keeps the {@code serialVersionUID} of classes that do not declare one. By default it is computed from the members that are not private, and the
 * transformation adds some: programs that are transformed and programs that are not could not read each other's objects.
 */
public final class SerialVersion {
    private SerialVersion() {}

    /** Adds the field to a serialisable class, with the value that it has by default. To be called before anything else is changed. */
    public static void keep(ClassNode type, Types types) {
        boolean other = (type.access & (Opcodes.ACC_INTERFACE | Opcodes.ACC_ENUM | Opcodes.ACC_RECORD)) != 0;
        if (other || !types.isSubtype(type.name, "java/io/Serializable") || type.fields.stream().anyMatch(f -> f.name.equals("serialVersionUID"))) {
            return;
        }
        type.accept(new SerialVersionUIDAdder(new ClassVisitor(Opcodes.ASM9) {
            @Override
            public FieldVisitor visitField(int access, String name, String desc, String signature, Object value) {
                if (name.equals("serialVersionUID")) {
                    type.visitField(access, name, desc, signature, value);
                }
                return null;
            }
        }));
    }
}
