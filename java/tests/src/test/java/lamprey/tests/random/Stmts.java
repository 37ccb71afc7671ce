package lamprey.tests.random;

import org.objectweb.asm.Label;
import org.objectweb.asm.Opcodes;

/** Random statements. */
final class Stmts implements Opcodes {
    private final Exprs x;
    private final Scope s;
    private final Loops loops;
    private final Tries tries;

    Stmts(Exprs exprs, Scope scope) {
        this.x = exprs;
        this.s = scope;
        this.loops = new Loops(this, exprs, scope);
        this.tries = new Tries(this, exprs, scope);
        exprs.statements(this);
    }

    void fill(Block b, int statements) {
        for (int i = 0; i < statements && s.budget > 0; i++) {
            b.statements.add(random());
        }
    }

    /** A block with its own variables. */
    Block block(int statements) {
        int variables = s.vars.size();
        int slot = s.nextSlot;
        Block b = new Block();
        s.depth++;
        fill(b, statements);
        s.depth--;
        close(variables, slot);
        return b;
    }

    /** Forgets the variables that were declared since. */
    void close(int variables, int slot) {
        s.vars.subList(variables, s.vars.size()).clear();
        s.nextSlot = slot;
    }

    private Stmt random() {
        s.budget--;
        int n = s.below(24);
        if (s.depth > 3 && n > 10) {
            n = s.below(11);
        }
        switch (n) {
            case 0:
            case 1:
                return declaration(s.pick(Kind.DATA));
            case 2:
                return assignment();
            case 3:
            case 4:
                return trace();
            case 5:
            case 6:
                return call();
            case 7:
            case 8:
                return Shuffle.random(x, s);
            case 9:
                return s.sites ? x.calls().creationDropped() : trace();
            case 10:
                return s.loops > 0 || s.oneIn(3) ? exit() : popped();
            case 11:
            case 12:
                return branch();
            case 13:
            case 14:
                return loops.random();
            case 15:
            case 16:
                return choice();
            default:
                return s.inExpression ? trace() : tries.random();
        }
    }

    Stmt declaration(Kind k) {
        Expr init = x.expr(k);
        Var v = s.declare(k, false);
        boolean again = s.reuses(v);
        boolean isNull = k.isReference() && s.oneIn(5);
        Expr first = isNull ? Leaves.zero(k) : init;
        return new Stmt((e, self) -> {
            if (again) {
                e.use(Feature.SLOT_REUSE);
            }
            if (isNull) {
                e.use(Feature.NULL_LOCAL);
            }
            e.push(self.kids);
            e.store(v);
        }, first);
    }

    private Stmt assignment() {
        Kind k = s.pick(Kind.DATA);
        if (s.self != null && s.meth.owner.equals(Program.B) && s.meth.role == Meth.Role.VIRTUAL && s.oneIn(8)) {
            return new Stmt((e, self) -> {
                e.use(Feature.THIS_OVERWRITTEN);
                e.push(self.kids);
                e.store(s.self);
            }, x.expr(Kind.BASE));
        }
        Var v = s.find(k, true);
        if (v == null) {
            Kind stack = k.stack() == Kind.GRID ? Kind.INT : k.stack();
            return new Stmt((e, self) -> {
                e.use(Feature.STATIC_FIELD);
                e.push(self.kids);
                e.visitFieldInsn(PUTSTATIC, Program.G, Program.field(stack), stack.desc);
            }, x.expr(stack));
        }
        return new Stmt((e, self) -> {
            e.push(self.kids);
            e.store(v);
        }, x.expr(v.kind));
    }

    Stmt trace() {
        Kind k = s.pick(Kind.DATA).stack();
        return new Stmt((e, self) -> {
            e.push(self.kids);
            e.trace(k);
        }, x.expr(k));
    }

    private Stmt popped() {
        Kind k = s.pick(Kind.DATA).stack();
        return new Stmt((e, self) -> {
            e.push(self.kids);
            e.use(k.size() == 2 ? Feature.POP2_WIDE : Feature.POP);
            e.visitInsn(k.size() == 2 ? POP2 : POP);
        }, x.expr(k));
    }

    /** A call that returns nothing, of the program or a primitive. */
    private Stmt call() {
        Expr call = s.oneIn(2) ? x.calls().returning(Kind.VOID) : null;
        if (call == null && !s.sites) {
            return trace();
        }
        if (call == null) {
            return new Stmt((e, self) -> e.primitive("yv", "(I)V"));
        }
        return new Stmt((e, self) -> e.push(self.kids), call);
    }

    private Stmt branch() {
        Condition c = new Condition(x, s);
        Block yes = block(1 + s.below(3));
        Block no = block(s.below(3));
        return new Stmt((e, self) -> {
            Label otherwise = new Label();
            Label end = new Label();
            c.otherwise(e, self.kids, otherwise);
            e.block(self.blocks[0]);
            e.jump(end);
            e.label(otherwise);
            e.block(self.blocks[1]);
            e.label(end);
        }, c.operands, yes, no);
    }

    private Stmt choice() {
        boolean table = s.oneIn(2);
        boolean falls = s.oneIn(2);
        Expr key = x.expr(Kind.INT);
        Block[] cases = new Block[2 + s.below(3)];
        for (int i = 0; i < cases.length; i++) {
            cases[i] = block(s.below(3));
        }
        return new Stmt((e, self) -> {
            e.use(table ? Feature.TABLE_SWITCH : Feature.LOOKUP_SWITCH);
            int n = self.blocks.length - 1;
            Label[] labels = new Label[n];
            int[] keys = new int[n];
            for (int i = 0; i < n; i++) {
                labels[i] = new Label();
                keys[i] = i == 0 ? -7 : i * 1000;
            }
            Label last = new Label();
            Label end = new Label();
            e.push(self.kids[0]);
            if (table) {
                e.constant(3);
                e.visitInsn(IAND);
                e.visitTableSwitchInsn(0, n - 1, last, labels);
            } else {
                e.visitLookupSwitchInsn(last, keys, labels);
            }
            for (int i = 0; i <= n; i++) {
                e.label(i < n ? labels[i] : last);
                e.block(self.blocks[i], Where.SWITCH);
                if (!falls) {
                    e.jump(end);
                }
            }
            e.label(end);
        }, new Expr[] {key}, cases);
    }

    /** Leaves a loop or the method, or throws; mostly under a condition. Within an expression what follows must stay reachable. */
    private Stmt exit() {
        Stmt out = s.inExpression || s.oneIn(3) ? thrown() : s.loops > 0 && s.oneIn(2) ? loops.exit() : returned();
        if (!s.inExpression && s.oneIn(6)) {
            return out;
        }
        Condition c = new Condition(x, s);
        Block b = new Block();
        b.statements.add(out);
        return new Stmt((e, self) -> {
            Label end = new Label();
            c.otherwise(e, self.kids, end);
            e.block(self.blocks[0]);
            e.label(end);
        }, c.operands, b);
    }

    private Stmt thrown() {
        String type = s.oneIn(2) ? "lamprey/tests/random/Boom" : "lamprey/tests/random/Boom$Sub";
        return new Stmt((e, self) -> {
            e.use(Feature.THROW);
            int before = e.where;
            e.visitTypeInsn(NEW, type);
            e.visitInsn(DUP);
            e.where |= Where.ARGUMENTS_OF_NEW.bit() | Where.OPERANDS_BELOW.bit();
            e.push(self.kids);
            e.where = before;
            e.visitMethodInsn(INVOKESPECIAL, type, "<init>", "(Ljava/lang/String;)V", false);
            e.visitInsn(ATHROW);
        }, new Expr(Kind.STRING, (e, kids) -> {
            // A message that is never null: the record hashes it.
            e.push(kids);
            e.visitMethodInsn(INVOKESTATIC, "java/lang/String", "valueOf", "(I)Ljava/lang/String;", false);
        }, x.expr(Kind.INT)));
    }

    Stmt returned() {
        Kind k = s.meth.result;
        if (k == Kind.VOID) {
            return new Stmt((e, self) -> e.leave(null, () -> e.visitInsn(RETURN)));
        }
        Var kept = s.temporary(k);
        return new Stmt((e, self) -> {
            e.push(self.kids);
            if (e.exits.stream().anyMatch(exit -> !exit.isLoop())) {
                e.use(Feature.RETURN_IN_TRY);
            }
            if (!e.leavesCleanup()) {
                e.narrow(k);
                e.leave(null, () -> e.visitInsn(k.op(IRETURN)));
                return;
            }
            e.store(kept);
            e.leave(null, () -> {
                e.load(kept);
                e.visitInsn(k.op(IRETURN));
            });
        }, x.expr(k));
    }
}
