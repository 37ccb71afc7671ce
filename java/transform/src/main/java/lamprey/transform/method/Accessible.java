package lamprey.transform.method;

import java.lang.reflect.Modifier;
import java.util.HashSet;
import java.util.Set;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TypeInsnNode;

/** Which classes a class can name in its code: those that it names already, those of its package and the JDK's public ones. Others may be private to another package. */
final class Accessible {
    private final String here;
    private final Set<String> named = new HashSet<>();

    Accessible(ClassNode type) {
        here = packageOf(type.name);
        named.add(type.superName);
        named.addAll(type.interfaces);
        for (MethodNode m : type.methods) {
            for (AbstractInsnNode insn : m.instructions) {
                if (insn instanceof TypeInsnNode) {
                    named.add(element(((TypeInsnNode) insn).desc));
                } else if (insn instanceof MethodInsnNode) {
                    named.add(element(((MethodInsnNode) insn).owner));
                } else if (insn instanceof FieldInsnNode) {
                    named.add(((FieldInsnNode) insn).owner);
                }
            }
        }
    }

    boolean isCertain(String type) {
        String name = element(type);
        return name.isEmpty() || packageOf(name).equals(here) || named.contains(name) || isPublicOfJdk(name);
    }

    private static boolean isPublicOfJdk(String name) {
        try {
            return name.startsWith("java/") && Modifier.isPublic(Class.forName(name.replace('/', '.'), false, null).getModifiers());
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }

    /** The class of an array's elements; empty for a primitive one. */
    private static String element(String type) {
        if (!type.startsWith("[")) {
            return type;
        }
        Type t = Type.getType(type).getElementType();
        return t.getSort() == Type.OBJECT ? t.getInternalName() : "";
    }

    private static String packageOf(String name) {
        return name.substring(0, name.lastIndexOf('/') + 1);
    }
}
