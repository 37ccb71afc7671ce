package lamprey.tests.random;

import org.objectweb.asm.Label;
import org.objectweb.asm.Opcodes;

/** Random loops, whose turns are counted, and jumps out of them. */
final class Loops implements Opcodes {
    private final Stmts stmts;
    private final Exprs x;
    private final Scope s;

    Loops(Stmts stmts, Exprs exprs, Scope scope) {
        this.stmts = stmts;
        this.x = exprs;
        this.s = scope;
    }

    Stmt random() {
        if (s.loops >= 2) {
            return stmts.trace();
        }
        int variables = s.vars.size();
        int slot = s.nextSlot;
        int turns = 1 + s.below(3);
        boolean atEnd = s.oneIn(2);
        Var counter = s.declare(Kind.INT, true);
        boolean inner = s.inExpression;
        s.loops++;
        Expr bound = x.expr(Kind.INT);
        Block body = stmts.block(1 + s.below(3));
        s.loops--;
        s.inExpression = inner;
        stmts.close(variables, slot);
        return new Stmt((e, self) -> {
            e.constant(turns);
            e.store(counter);
            if (atEnd) {
                doWhile(e, self, counter);
            } else {
                whileLoop(e, self, counter);
            }
        }, new Expr[] {bound}, body);
    }

    /** Ends when the counter does, or the condition is negative. */
    private static void whileLoop(Emit e, Stmt self, Var counter) {
        e.use(Feature.WHILE);
        Label head = new Label();
        Label end = new Label();
        e.label(head);
        e.world("tick", "()V");
        e.load(counter);
        e.visitJumpInsn(IFLE, end);
        e.visitIincInsn(counter.slot, -1);
        int before = e.where;
        e.where |= Where.LOOP.bit();
        e.push(self.kids[0]);
        e.visitJumpInsn(IFLT, end);
        Emit.Exit loop = e.openLoop(end, head);
        e.block(self.blocks[0]);
        e.close(loop);
        e.where = before;
        e.jump(head);
        e.label(end);
    }

    private static void doWhile(Emit e, Stmt self, Var counter) {
        e.use(Feature.DO_WHILE);
        Label head = new Label();
        Label check = new Label();
        Label end = new Label();
        e.label(head);
        e.world("tick", "()V");
        int before = e.where;
        e.where |= Where.LOOP.bit();
        Emit.Exit loop = e.openLoop(end, check);
        e.block(self.blocks[0]);
        e.close(loop);
        e.label(check);
        if (e.reachable) {
            e.visitIincInsn(counter.slot, -1);
            e.load(counter);
            e.visitJumpInsn(IFLE, end);
            e.push(self.kids[0]);
            e.visitJumpInsn(IFGE, head);
        }
        e.where = before;
        e.label(end);
    }

    /** {@code break} or {@code continue} of one of the loops around. */
    Stmt exit() {
        boolean breaks = s.oneIn(2);
        int outwards = s.below(s.loops);
        return new Stmt((e, self) -> {
            int left = outwards;
            for (int i = e.exits.size() - 1; i >= 0; i--) {
                Emit.Exit exit = e.exits.get(i);
                if (exit.isLoop() && left-- == 0) {
                    e.use(breaks ? Feature.BREAK : Feature.CONTINUE);
                    e.leave(exit, () -> e.jump(breaks ? exit.breaks : exit.continues));
                    return;
                }
            }
            throw new IllegalStateException("no loop to leave");
        });
    }
}
