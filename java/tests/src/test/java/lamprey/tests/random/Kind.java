package lamprey.tests.random;

import org.objectweb.asm.Type;

/** The types of values in generated methods. */
enum Kind {
    INT("I"), BOOL("Z"), BYTE("B"), CHAR("C"), SHORT("S"), LONG("J"), FLOAT("F"), DOUBLE("D"),
    STRING("Ljava/lang/String;"), OBJECT("Ljava/lang/Object;"), INTS("[I"), LONGS("[J"), OBJECTS("[Ljava/lang/Object;"), GRID("[[I"),
    BASE("Lgen/B;"), THROWABLE("Ljava/lang/Throwable;"), VOID("V");

    /** What a parameter, a local or a field may be. */
    static final Kind[] DATA =
        {INT, INT, INT, BOOL, BYTE, CHAR, SHORT, LONG, LONG, FLOAT, DOUBLE, DOUBLE, STRING, OBJECT, INTS, LONGS, OBJECTS, GRID, BASE};

    final String desc;
    final Type type;

    Kind(String desc) {
        this.desc = desc;
        this.type = Type.getType(desc);
    }

    /** Slots it takes. */
    int size() {
        return type.getSize();
    }

    boolean isReference() {
        return type.getSort() >= Type.ARRAY;
    }

    /** As the operand stack knows it. */
    Kind stack() {
        return this == BOOL || this == BYTE || this == CHAR || this == SHORT ? INT : this;
    }

    /** The instruction for this type, given the one for int. */
    int op(int opcodeOfInt) {
        return type.getOpcode(opcodeOfInt);
    }

    String internalName() {
        return type.getInternalName();
    }
}
