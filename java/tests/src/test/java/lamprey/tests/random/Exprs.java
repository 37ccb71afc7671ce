package lamprey.tests.random;

import org.objectweb.asm.Label;
import org.objectweb.asm.Opcodes;

/** Random expressions. */
final class Exprs implements Opcodes {
    final Scope s;
    final Leaves leaves;
    private final Operators operators;
    private final Invocations calls;
    private Stmts statements;

    Exprs(Scope scope) {
        this.s = scope;
        this.leaves = new Leaves(scope);
        this.operators = new Operators(this, scope);
        this.calls = new Invocations(this, scope);
    }

    void statements(Stmts stmts) {
        this.statements = stmts;
    }

    Invocations calls() {
        return calls;
    }

    Expr expr(Kind kind) {
        Kind k = kind.stack();
        if (--s.budget < 0 || s.depth > 4) {
            return leaves.leaf(k);
        }
        s.depth++;
        Expr x = composed(k);
        s.depth--;
        return x;
    }

    Expr[] exprs(Kind... kinds) {
        Expr[] all = new Expr[kinds.length];
        for (int i = 0; i < all.length; i++) {
            all[i] = expr(kinds[i]);
        }
        return all;
    }

    private Expr composed(Kind k) {
        switch (s.below(16)) {
            case 0:
            case 1:
            case 2:
                return leaves.leaf(k);
            case 3:
            case 4:
            case 5:
                return s.sites ? primitive(k, expr(k)) : leaves.leaf(k);
            case 6:
            case 7:
            case 8: {
                Expr call = calls.returning(k);
                return call == null ? operators.of(k) : call;
            }
            case 9:
                return ternary(k);
            case 10:
                return operators.assignment(k);
            case 11:
                return s.oneIn(2) ? loop(k) : withBlock(k);
            default:
                return operators.of(k);
        }
    }

    /** A primitive that returns its operand. */
    Expr primitive(Kind k, Expr operand) {
        boolean other = s.oneIn(4);
        return new Expr(k, (e, kids) -> {
            if (k == Kind.LONG && other) {
                e.use(Feature.VIRTUAL_PRIMITIVE);
                e.world("door", "()Llamprey/tests/random/World$Door;");
                e.push(kids);
                e.constant(e.where);
                e.visitMethodInsn(INVOKEVIRTUAL, Emit.WORLD + "$Door", "pass", "(JI)J", false);
                return;
            }
            e.push(kids);
            switch (k) {
                case INT:
                    if (other) {
                        e.use(Feature.CALL_THAT_THROWS);
                    }
                    e.primitive(other ? "yx" : "yi", "(II)I");
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
                    if (k != Kind.OBJECT) {
                        e.visitTypeInsn(CHECKCAST, k.internalName());
                    }
            }
        }, operand);
    }

    private Expr ternary(Kind k) {
        Condition c = new Condition(this, s);
        Expr yes = expr(k);
        Expr no = expr(k);
        int n = c.operands.length;
        return new Expr(k, (e, kids) -> {
            e.use(Feature.TERNARY);
            int before = e.where;
            Label otherwise = new Label();
            Label end = new Label();
            c.otherwise(e, kids, otherwise);
            e.where |= Where.TERNARY.bit();
            e.push(kids[n]);
            e.jump(end);
            e.label(otherwise);
            e.push(kids[n + 1]);
            e.label(end);
            e.where = before;
        }, c.and(yes, no));
    }

    /** Adds up on the operand stack, over the turns of a loop. */
    private Expr loop(Kind kind) {
        Kind k = kind == Kind.DOUBLE || kind == Kind.LONG || kind == Kind.INT ? kind : null;
        if (k == null) {
            return leaves.leaf(kind);
        }
        int turns = 1 + s.below(3);
        Expr start = expr(k);
        Var counter = s.declare(Kind.INT, true);
        Expr added = expr(k);
        s.vars.remove(counter);
        return new Expr(k, (e, kids) -> {
            e.use(Feature.LOOP_WITH_OPERANDS);
            int before = e.where;
            e.push(kids[0]);
            e.below(k);
            e.where |= Where.LOOP_WITH_OPERANDS.bit();
            e.constant(turns);
            e.store(counter);
            Label head = new Label();
            e.label(head);
            e.world("tick", "()V");
            e.push(kids[1]);
            e.visitInsn(k.op(IADD));
            e.visitIincInsn(counter.slot, -1);
            e.load(counter);
            e.visitJumpInsn(IFGT, head);
            e.where = before;
        }, start, added);
    }

    /** Statements, then a value. */
    private Expr withBlock(Kind k) {
        boolean before = s.inExpression;
        int variables = s.vars.size();
        int slot = s.nextSlot;
        s.inExpression = true;
        Block b = new Block();
        statements.fill(b, 1 + s.below(2));
        Expr x = expr(k);
        s.inExpression = before;
        s.vars.subList(variables, s.vars.size()).clear();
        s.nextSlot = slot;
        return new Expr(k, b, (e, kids) -> e.push(kids), x);
    }
}
