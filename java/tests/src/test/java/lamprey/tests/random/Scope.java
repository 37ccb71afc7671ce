package lamprey.tests.random;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** What is known while the body of one method is generated: its variables, and what may be written here. */
final class Scope {
    final Random random;
    final Program program;
    final Meth meth;
    final List<Var> vars = new ArrayList<>();
    int nextSlot;
    /** The end of all slots used since this was set. */
    int extent;
    private int highestSlot;
    /** How much may still be generated. */
    int budget;
    int depth;
    /** Calls that can suspend are allowed. */
    boolean sites = true;
    /** Within an expression: the operand stack is not empty, so that no handler and no jump out may be written. */
    boolean inExpression;
    int loops;
    int finallies;
    /** The receiver; null if there is none. */
    Var self;

    Scope(Random random, Program program, Meth meth, int budget) {
        this.random = random;
        this.program = program;
        this.meth = meth;
        this.budget = budget;
    }

    int below(int n) {
        return random.nextInt(n);
    }

    boolean oneIn(int n) {
        return random.nextInt(n) == 0;
    }

    <T> T pick(T[] of) {
        return of[random.nextInt(of.length)];
    }

    Var declare(Kind k, boolean counter) {
        Var v = new Var(k, nextSlot, counter);
        nextSlot += k.size();
        extent = Math.max(extent, nextSlot);
        vars.add(v);
        return v;
    }

    /** A slot that is given back at once and holds no variable of the program. */
    Var temporary(Kind k) {
        Var v = declare(k, true);
        vars.remove(v);
        return v;
    }

    /** Whether a slot was used before by a variable that is gone. */
    boolean reuses(Var v) {
        boolean again = v.slot < highestSlot;
        highestSlot = Math.max(highestSlot, v.slot + v.kind.size());
        return again;
    }

    /** A variable of a kind; null if there is none. */
    Var find(Kind k, boolean toWrite) {
        List<Var> all = new ArrayList<>();
        for (Var v : vars) {
            if (v.kind.stack() == k.stack() && !(toWrite && v.counter)) {
                all.add(v);
            }
        }
        return all.isEmpty() ? null : all.get(random.nextInt(all.size()));
    }
}
