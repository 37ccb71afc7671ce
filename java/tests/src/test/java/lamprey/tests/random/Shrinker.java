package lamprey.tests.random;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Makes a failing program smaller while it still fails: drops statements, puts constants for expressions, keeps what is within a statement only. */
final class Shrinker {
    private final Program program;
    private final Predicate<Program> fails;
    private int attempts;

    private Shrinker(Program program, Predicate<Program> fails, int attempts) {
        this.program = program;
        this.fails = fails;
        this.attempts = attempts;
    }

    static void shrink(Program p, Predicate<Program> fails, int attempts) {
        Shrinker s = new Shrinker(p, fails, attempts);
        boolean smaller = true;
        while (smaller && s.attempts > 0) {
            smaller = false;
            for (Meth m : p.methods) {
                smaller |= s.block(m.body);
                smaller |= s.kids(m.delegated);
            }
        }
    }

    private boolean still() {
        if (--attempts < 0) {
            return false;
        }
        try {
            return fails.test(program);
        } catch (RuntimeException | LinkageError e) {
            return false; // A variable is used without a value, or a jump has lost its loop: no program.
        }
    }

    private boolean block(Block b) {
        boolean smaller = false;
        for (int chunk = b.statements.size(); chunk > 0; chunk /= 2) {
            for (int at = 0; at + chunk <= b.statements.size();) {
                List<Stmt> part = b.statements.subList(at, at + chunk);
                List<Stmt> kept = new ArrayList<>(part);
                part.clear();
                if (still()) {
                    smaller = true;
                } else {
                    b.statements.addAll(at, kept);
                    at += chunk;
                }
            }
        }
        for (int i = 0; i < b.statements.size(); i++) {
            Stmt s = b.statements.get(i);
            for (Block inner : s.blocks) {
                List<Stmt> before = new ArrayList<>(b.statements);
                b.statements.remove(i);
                b.statements.addAll(i, inner.statements);
                if (still()) {
                    return true;
                }
                b.statements.clear();
                b.statements.addAll(before);
            }
            smaller |= kids(s.kids);
            for (Block inner : s.blocks) {
                smaller |= block(inner);
            }
        }
        return smaller;
    }

    private boolean kids(Expr[] kids) {
        boolean smaller = false;
        for (int i = 0; i < kids.length; i++) {
            Expr x = kids[i];
            if (x.kids.length == 0 && x.block == null) {
                continue;
            }
            kids[i] = Leaves.zero(x.kind);
            if (still()) {
                smaller = true;
                continue;
            }
            kids[i] = x;
            for (Expr inner : x.kids) {
                if (inner.kind == x.kind && kids[i] == x) {
                    kids[i] = inner;
                    if (!still()) {
                        kids[i] = x;
                    }
                }
            }
            smaller |= kids[i] != x;
            smaller |= kids(kids[i].kids);
            if (kids[i].block != null) {
                smaller |= block(kids[i].block);
            }
        }
        return smaller;
    }
}
