package lamprey.tests.random;

import java.util.Arrays;
import org.objectweb.asm.Label;
import org.objectweb.asm.Opcodes;

/** What a jump depends on: an instruction and its operands. */
final class Condition implements Opcodes {
    private static final int[] OF_ONE = {IFEQ, IFNE, IFLT, IFGE, IFGT, IFLE};
    private static final int[] OF_TWO = {IF_ICMPEQ, IF_ICMPNE, IF_ICMPLT, IF_ICMPGE, IF_ICMPGT, IF_ICMPLE};

    final int opcode;
    final Expr[] operands;

    Condition(Exprs exprs, Scope s) {
        Kind k = s.pick(new Kind[] {Kind.STRING, Kind.OBJECT, Kind.BASE});
        switch (s.below(5)) {
            case 0:
            case 1:
                opcode = OF_ONE[s.below(6)];
                operands = new Expr[] {exprs.expr(Kind.INT)};
                break;
            case 2:
                opcode = OF_TWO[s.below(6)];
                operands = new Expr[] {exprs.expr(Kind.INT), exprs.expr(Kind.INT)};
                break;
            case 3:
                opcode = s.oneIn(2) ? IFNULL : IFNONNULL;
                operands = new Expr[] {exprs.expr(k)};
                break;
            default:
                opcode = s.oneIn(2) ? IF_ACMPEQ : IF_ACMPNE;
                operands = new Expr[] {exprs.expr(k), exprs.expr(k)};
        }
    }

    /** The operands, then others. */
    Expr[] and(Expr... others) {
        Expr[] all = Arrays.copyOf(operands, operands.length + others.length);
        System.arraycopy(others, 0, all, operands.length, others.length);
        return all;
    }

    /** Jumps if it does not hold. The operands are the first of {@code kids}. */
    void otherwise(Emit e, Expr[] kids, Label target) {
        boolean before = e.inCondition;
        e.inCondition = true;
        e.push(Arrays.copyOf(kids, operands.length));
        e.inCondition = before;
        e.visitJumpInsn(opcode, target);
    }
}
