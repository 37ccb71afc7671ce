package lamprey.transform.method;

import org.objectweb.asm.ConstantDynamic;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.TypeInsnNode;

/** Verification types, as {@link TypeState} has them: their sizes, descriptors and opcodes. */
final class Types implements Opcodes {
    private Types() {}

    static Object of(Type t) {
        switch (t.getSort()) {
            case Type.FLOAT: return FLOAT;
            case Type.LONG: return LONG;
            case Type.DOUBLE: return DOUBLE;
            case Type.OBJECT: return t.getInternalName();
            case Type.ARRAY: return t.getDescriptor();
            default: return INTEGER;
        }
    }

    static int size(Object type) {
        return LONG.equals(type) || DOUBLE.equals(type) ? 2 : 1;
    }

    static boolean isReference(Object type) {
        return type instanceof String || NULL.equals(type);
    }

    static boolean isUninitialised(Object type) {
        return type instanceof TypeInsnNode || UNINITIALIZED_THIS.equals(type);
    }

    /** The descriptor of a value of this type; of Object for null. */
    static String descriptor(Object type) {
        if (type instanceof String) {
            String name = (String) type;
            return name.startsWith("[") ? name : "L" + name + ";";
        }
        return INTEGER.equals(type) ? "I" : LONG.equals(type) ? "J" : FLOAT.equals(type) ? "F" : DOUBLE.equals(type) ? "D" : "Ljava/lang/Object;";
    }

    /** For example ILOAD, of which the one for this type is returned. */
    static int opcode(Object type, int intOpcode) {
        if (type instanceof Integer && !NULL.equals(type) && !UNINITIALIZED_THIS.equals(type) && !TOP.equals(type)) {
            return Type.getType(descriptor(type)).getOpcode(intOpcode);
        }
        return Type.getType("Ljava/lang/Object;").getOpcode(intOpcode);
    }

    static Object element(Object array) {
        if (NULL.equals(array)) {
            return NULL;
        }
        return of(Type.getType(((String) array).substring(1)));
    }

    static String primitiveArray(int code) {
        switch (code) {
            case T_BOOLEAN: return "[Z";
            case T_CHAR: return "[C";
            case T_FLOAT: return "[F";
            case T_DOUBLE: return "[D";
            case T_BYTE: return "[B";
            case T_SHORT: return "[S";
            case T_INT: return "[I";
            default: return "[J";
        }
    }

    /** Of what LDC loads. */
    static Object constant(Object c) {
        if (c instanceof Integer) {
            return INTEGER;
        } else if (c instanceof Float) {
            return FLOAT;
        } else if (c instanceof Long) {
            return LONG;
        } else if (c instanceof Double) {
            return DOUBLE;
        } else if (c instanceof String) {
            return "java/lang/String";
        } else if (c instanceof Type) {
            return ((Type) c).getSort() == Type.METHOD ? "java/lang/invoke/MethodType" : "java/lang/Class";
        } else if (c instanceof Handle) {
            return "java/lang/invoke/MethodHandle";
        }
        return of(Type.getType(((ConstantDynamic) c).getDescriptor()));
    }
}
