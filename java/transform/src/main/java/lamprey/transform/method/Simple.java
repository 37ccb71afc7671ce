package lamprey.transform.method;

import org.objectweb.asm.Opcodes;

/** How many operands the instructions without arguments take, and the type of what they leave. */
final class Simple implements Opcodes {
    private Simple() {}

    static int pops(int op) {
        if (op < IALOAD) {
            return 0; // NOP and constants
        }
        if (op <= SALOAD) {
            return 2;
        }
        if (op >= IASTORE && op <= SASTORE) {
            return 3;
        }
        if (op >= INEG && op <= DNEG || op >= I2L && op <= I2S) {
            return 1;
        }
        if (op >= IADD && op <= LXOR || op >= LCMP && op <= DCMPG) {
            return 2;
        }
        return op == RETURN ? 0 : 1; // other returns, ARRAYLENGTH, ATHROW, MONITORENTER, MONITOREXIT
    }

    /** Null if it leaves nothing. */
    static Object pushes(int op) {
        if (op >= ICONST_M1 && op <= DCONST_1) {
            return op <= ICONST_5 ? INTEGER : op <= LCONST_1 ? LONG : op <= FCONST_2 ? FLOAT : DOUBLE;
        }
        if (op >= IALOAD && op <= SALOAD) {
            return op == LALOAD ? LONG : op == FALOAD ? FLOAT : op == DALOAD ? DOUBLE : INTEGER;
        }
        if (op >= IADD && op <= DNEG) {
            return byFour((op - IADD) % 4);
        }
        if (op >= ISHL && op <= LXOR) {
            return (op - ISHL) % 2 == 0 ? INTEGER : LONG;
        }
        if (op >= I2L && op <= I2S) {
            return converted(op);
        }
        return op >= LCMP && op <= DCMPG || op == ARRAYLENGTH ? INTEGER : null;
    }

    private static Object byFour(int n) {
        return n == 0 ? INTEGER : n == 1 ? LONG : n == 2 ? FLOAT : DOUBLE;
    }

    private static Object converted(int op) {
        switch (op) {
            case I2L: case F2L: case D2L: return LONG;
            case I2F: case L2F: case D2F: return FLOAT;
            case I2D: case L2D: case F2D: return DOUBLE;
            default: return INTEGER;
        }
    }
}
