package lamprey.tests.random;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.objectweb.asm.Opcodes;

/**
 * A statement that pushes values of random types, moves them by the instructions that copy and exchange operands, calls primitives with what is
 * then on top, and records all.
 */
final class Shuffle implements Opcodes {
    private static final int[] MOVES = {DUP, DUP_X1, DUP_X2, DUP2, DUP2_X1, DUP2_X2, SWAP, POP, POP2};
    private static final Kind[] KINDS =
        {Kind.INT, Kind.INT, Kind.LONG, Kind.FLOAT, Kind.DOUBLE, Kind.STRING, Kind.OBJECT, Kind.INTS, Kind.BASE};
    private static final int CALL = -1;

    private final Scope s;
    private final List<Kind> stack = new ArrayList<>();
    private final List<Integer> moves = new ArrayList<>();
    private final List<Kind> tops = new ArrayList<>();

    private Shuffle(Scope scope) {
        this.s = scope;
    }

    static Stmt random(Exprs x, Scope s) {
        Kind[] kinds = new Kind[2 + s.below(4)];
        for (int i = 0; i < kinds.length; i++) {
            kinds[i] = s.pick(KINDS);
        }
        Shuffle sh = new Shuffle(s);
        sh.stack.addAll(Arrays.asList(kinds));
        sh.choose();
        return new Stmt((e, self) -> sh.emit(e, self.kids), x.exprs(kinds));
    }

    /** Applies moves to the types on the stack, and notes those that are valid. */
    private void choose() {
        for (int i = 0; i < 8; i++) {
            Kind top = stack.isEmpty() ? null : stack.get(stack.size() - 1);
            if (top != null && s.sites && s.oneIn(3)) {
                moves.add(CALL);
                tops.add(top);
                continue;
            }
            int move = MOVES[s.below(MOVES.length)];
            if (stack.size() < 9 && apply(move)) {
                moves.add(move);
                tops.add(top);
            }
        }
    }

    /** The i-th value from the top is one slot; or two. */
    private boolean one(int i) {
        return stack.size() > i && stack.get(stack.size() - 1 - i).size() == 1;
    }

    private boolean two(int i) {
        return stack.size() > i && stack.get(stack.size() - 1 - i).size() == 2;
    }

    private boolean apply(int move) {
        switch (move) {
            case DUP:
                return one(0) && copy(1, 0);
            case DUP_X1:
                return one(0) && one(1) && copy(1, 1);
            case DUP_X2:
                return one(0) && (two(1) && copy(1, 1) || one(1) && one(2) && copy(1, 2));
            case DUP2:
                return two(0) && copy(1, 0) || one(0) && one(1) && copy(2, 0);
            case DUP2_X1:
                return two(0) && one(1) && copy(1, 1) || one(0) && one(1) && one(2) && copy(2, 1);
            case DUP2_X2:
                return two(0) && (two(1) && copy(1, 1) || one(1) && one(2) && copy(1, 2))
                    || one(0) && one(1) && (two(2) && copy(2, 1) || one(2) && one(3) && copy(2, 2));
            case SWAP:
                if (!one(0) || !one(1)) {
                    return false;
                }
                stack.add(stack.remove(stack.size() - 2));
                return true;
            case POP:
                return one(0) && drop(1);
            default:
                return two(0) && drop(1) || one(0) && one(1) && drop(2);
        }
    }

    /** Copies the top {@code n} values below the {@code under} next ones. */
    private boolean copy(int n, int under) {
        List<Kind> top = new ArrayList<>(stack.subList(stack.size() - n, stack.size()));
        stack.addAll(stack.size() - n - under, top);
        return true;
    }

    private boolean drop(int n) {
        stack.subList(stack.size() - n, stack.size()).clear();
        return true;
    }

    private void emit(Emit e, Expr[] kids) {
        e.use(Feature.SHUFFLE);
        int before = e.where;
        e.push(kids);
        e.where |= Where.OPERANDS_BELOW.bit();
        for (int i = 0; i < moves.size(); i++) {
            if (moves.get(i) == CALL) {
                call(e, tops.get(i));
            } else {
                count(e, moves.get(i), tops.get(i));
                e.visitInsn(moves.get(i));
            }
        }
        e.where = before;
        for (int i = stack.size() - 1; i >= 0; i--) {
            e.trace(stack.get(i));
        }
    }

    private static void call(Emit e, Kind k) {
        switch (k) {
            case INT:
                e.primitive("yi", "(II)I");
                break;
            case LONG:
                e.primitive("yl", "(JI)J");
                break;
            case FLOAT:
                e.primitive("yf", "(FI)F");
                break;
            case DOUBLE:
                e.primitive("yd", "(DI)D");
                break;
            default:
                e.primitive("ya", "(Ljava/lang/Object;I)Ljava/lang/Object;");
                e.visitTypeInsn(CHECKCAST, k.internalName());
        }
    }

    private static void count(Emit e, int move, Kind top) {
        boolean wide = top.size() == 2;
        switch (move) {
            case DUP:
                e.use(Feature.DUP);
                break;
            case DUP_X1:
                e.use(Feature.DUP_X1);
                break;
            case DUP_X2:
                e.use(Feature.DUP_X2);
                break;
            case DUP2:
                e.use(wide ? Feature.DUP2_WIDE : Feature.DUP2_PAIR);
                break;
            case DUP2_X1:
                e.use(Feature.DUP2_X1);
                break;
            case DUP2_X2:
                e.use(Feature.DUP2_X2);
                break;
            case SWAP:
                e.use(Feature.SWAP);
                break;
            case POP:
                e.use(Feature.POP);
                break;
            default:
                e.use(wide ? Feature.POP2_WIDE : Feature.POP2_PAIR);
        }
    }
}
