package lamprey.tests.random;

import org.objectweb.asm.Label;
import org.objectweb.asm.Opcodes;

/** Random {@code try} statements and locks, written as javac does: a {@code finally} block once for each way out. */
final class Tries implements Opcodes {
    private static final String[] CAUGHT = {"lamprey/tests/random/Boom", "lamprey/tests/random/Boom$Sub", "java/lang/RuntimeException",
        "java/lang/ArithmeticException", "java/lang/NullPointerException", "java/lang/ClassCastException",
        "java/lang/IndexOutOfBoundsException", "java/lang/Exception", "java/lang/Throwable"};

    private final Stmts stmts;
    private final Exprs x;
    private final Scope s;

    Tries(Stmts stmts, Exprs exprs, Scope scope) {
        this.stmts = stmts;
        this.x = exprs;
        this.s = scope;
    }

    Stmt random() {
        switch (s.below(7)) {
            case 0:
            case 1:
            case 2:
                return caught();
            case 3:
            case 4:
                return s.finallies < 2 ? finallyOf(false) : caught();
            case 5:
                return s.finallies < 2 ? finallyOf(true) : caught();
            default:
                return s.sites ? locked() : caught();
        }
    }

    private Stmt caught() {
        Block body = stmts.block(1 + s.below(3));
        int n = 1 + s.below(2);
        String[] types = new String[n];
        Var[] vars = new Var[n];
        Block[] blocks = new Block[n + 1];
        blocks[0] = body;
        for (int i = 0; i < n; i++) {
            types[i] = s.pick(CAUGHT);
            int variables = s.vars.size();
            int slot = s.nextSlot;
            vars[i] = s.declare(Kind.THROWABLE, true);
            blocks[i + 1] = stmts.block(s.below(3));
            stmts.close(variables, slot);
        }
        return new Stmt((e, self) -> {
            e.use(n == 1 ? Feature.TRY_CATCH : Feature.TWO_CATCHES);
            nested(e);
            Label end = new Label();
            Emit.Exit range = e.openRange(null);
            e.block(self.blocks[0], Where.TRY);
            e.close(range);
            e.jump(end);
            for (int i = 0; i < n; i++) {
                Label handler = new Label();
                if (types[i].equals("java/lang/Throwable")) {
                    e.use(Feature.CATCH_ALL);
                }
                if (e.cover(range, handler, types[i])) {
                    e.handler(handler);
                    e.store(vars[i]);
                    e.load(vars[i]);
                    e.trace(Kind.THROWABLE);
                    e.block(self.blocks[i + 1], Where.CATCH);
                    e.jump(end);
                }
            }
            e.label(end);
        }, new Expr[0], blocks);
    }

    private static void nested(Emit e) {
        if ((e.where & Where.TRY.bit()) != 0) {
            e.use(Feature.NESTED_TRY);
        }
    }

    /** The body's variables do not share slots with those of the last block, which may run while a value to be returned waits in one. */
    private Stmt finallyOf(boolean withCatch) {
        int slot = s.nextSlot;
        int extent = s.extent;
        s.finallies++;
        Var thrown = s.temporary(Kind.THROWABLE);
        s.extent = s.nextSlot;
        Block last = stmts.block(1 + s.below(2));
        s.finallies--;
        s.nextSlot = s.extent;
        s.extent = Math.max(extent, s.extent);
        Block body;
        if (withCatch) {
            body = new Block();
            body.statements.add(caught());
        } else {
            body = stmts.block(1 + s.below(3));
        }
        s.nextSlot = slot;
        return new Stmt((e, self) -> {
            e.use(withCatch ? Feature.TRY_CATCH_FINALLY : Feature.TRY_FINALLY);
            nested(e);
            Label end = new Label();
            Emit.Exit range = e.openRange(() -> e.block(self.blocks[1], Where.FINALLY));
            e.block(self.blocks[0], Where.TRY);
            e.close(range);
            if (e.reachable) {
                e.block(self.blocks[1], Where.FINALLY);
                e.jump(end);
            }
            Label handler = new Label();
            if (e.cover(range, handler, null)) {
                e.handler(handler);
                e.store(thrown);
                e.block(self.blocks[1], Where.FINALLY);
                if (e.reachable) {
                    e.load(thrown);
                    e.visitInsn(ATHROW);
                }
            }
            e.label(end);
        }, new Expr[0], body, last);
    }

    /** A synchronized block, as it is after the lock's instructions became calls. The handler that unlocks covers itself, as javac has it. */
    private Stmt locked() {
        Expr lock = x.expr(Kind.OBJECT);
        Var held = s.declare(Kind.OBJECT, true);
        Var thrown = s.temporary(Kind.THROWABLE);
        Block body = stmts.block(1 + s.below(3));
        s.vars.remove(held);
        return new Stmt((e, self) -> {
            e.use(Feature.MONITOR);
            Runnable unlock = () -> {
                int before = e.where;
                e.where |= Where.FINALLY.bit();
                e.load(held);
                e.primitive("unlock", "(Ljava/lang/Object;I)V");
                e.where = before;
            };
            e.push(self.kids);
            e.visitInsn(DUP);
            e.store(held);
            e.primitive("lock", "(Ljava/lang/Object;I)V");
            Label end = new Label();
            Emit.Exit range = e.openRange(unlock);
            e.block(self.blocks[0], Where.MONITOR);
            e.close(range);
            if (e.reachable) {
                unlock.run();
                e.jump(end);
            }
            Label handler = new Label();
            if (e.cover(range, handler, null)) {
                Emit.Mark from = new Emit.Mark();
                e.handler(from.label);
                e.handler(handler);
                e.store(thrown);
                unlock.run();
                Emit.Mark to = e.mark();
                e.visitTryCatchBlock(from.label, to.label, handler, null);
                e.load(thrown);
                e.visitInsn(ATHROW);
            }
            e.label(end);
        }, new Expr[] {lock}, body);
    }
}
