package lamprey.transform.rewrite;

import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.TypeInsnNode;

/** Converts a value as the JVM's lambda classes do: cast, box, unbox, widen. */
final class Conversions {
    private Conversions() {}

    static void convert(InsnList code, Type from, Type to) {
        if (to.getSort() == Type.VOID) {
            if (from.getSort() != Type.VOID) {
                code.add(new InsnNode(from.getSize() == 2 ? Opcodes.POP2 : Opcodes.POP));
            }
        } else if (isReference(from) && isReference(to)) {
            if (!from.equals(to) && !to.getInternalName().equals("java/lang/Object")) {
                code.add(new TypeInsnNode(Opcodes.CHECKCAST, to.getInternalName()));
            }
        } else if (isReference(from)) {
            unbox(code, from, to);
        } else if (isReference(to)) {
            box(code, from, to);
        } else {
            widen(code, from, to);
        }
    }

    private static void unbox(InsnList code, Type from, Type to) {
        Type primitive = primitive(from);
        String wrapper = from.getInternalName();
        if (primitive == null) {
            primitive = to;
            wrapper = wrapper(to);
            code.add(new TypeInsnNode(Opcodes.CHECKCAST, wrapper));
        }
        code.add(new MethodInsnNode(Opcodes.INVOKEVIRTUAL, wrapper, primitive.getClassName() + "Value", "()" + primitive.getDescriptor(), false));
        widen(code, primitive, to);
    }

    private static void box(InsnList code, Type from, Type to) {
        Type wanted = primitive(to);
        Type primitive = wanted == null ? from : wanted;
        widen(code, from, primitive);
        String wrapper = wrapper(primitive);
        code.add(new MethodInsnNode(Opcodes.INVOKESTATIC, wrapper, "valueOf", "(" + primitive.getDescriptor() + ")L" + wrapper + ";", false));
    }

    private static void widen(InsnList code, Type from, Type to) {
        int f = kind(from);
        int t = kind(to);
        if (f != t) {
            // I2L.. are laid out by source, then target, without the identity.
            code.add(new InsnNode(Opcodes.I2L + f * 3 + (t > f ? t - 1 : t)));
        }
    }

    private static int kind(Type t) {
        switch (t.getSort()) {
            case Type.LONG:
                return 1;
            case Type.FLOAT:
                return 2;
            case Type.DOUBLE:
                return 3;
            default:
                return 0;
        }
    }

    private static boolean isReference(Type t) {
        return t.getSort() == Type.OBJECT || t.getSort() == Type.ARRAY;
    }

    private static final Type[] PRIMITIVES = {Type.BOOLEAN_TYPE, Type.CHAR_TYPE, Type.BYTE_TYPE, Type.SHORT_TYPE, Type.INT_TYPE, Type.LONG_TYPE,
        Type.FLOAT_TYPE, Type.DOUBLE_TYPE};
    private static final String[] WRAPPERS = {"Boolean", "Character", "Byte", "Short", "Integer", "Long", "Float", "Double"};

    private static Type primitive(Type wrapper) {
        for (int i = 0; i < WRAPPERS.length; i++) {
            if (wrapper.getDescriptor().equals("Ljava/lang/" + WRAPPERS[i] + ";")) {
                return PRIMITIVES[i];
            }
        }
        return null;
    }

    private static String wrapper(Type primitive) {
        for (int i = 0; i < WRAPPERS.length; i++) {
            if (PRIMITIVES[i].equals(primitive)) {
                return "java/lang/" + WRAPPERS[i];
            }
        }
        throw new IllegalArgumentException("no wrapper of " + primitive);
    }
}
