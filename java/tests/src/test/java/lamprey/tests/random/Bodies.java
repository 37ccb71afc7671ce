package lamprey.tests.random;

/** Generates the body of a method whose signature is known. */
final class Bodies {
    private Bodies() {}

    static void write(Scope s) {
        Meth m = s.meth;
        boolean constructor = m.role == Meth.Role.CONSTRUCTOR;
        s.sites = m.role != Meth.Role.PURE && !constructor;
        if (!m.isStatic()) {
            s.nextSlot = 1;
        }
        m.vars = new Var[m.params.length];
        for (int i = 0; i < m.params.length; i++) {
            m.vars[i] = s.declare(m.params[i], false);
        }
        Exprs x = new Exprs(s);
        Stmts stmts = new Stmts(x, s);
        if (constructor && m.delegate != null) {
            // Before the object exists nothing may suspend, and nothing may use it.
            m.delegated = x.exprs(m.delegate.params);
        }
        s.sites = m.role != Meth.Role.PURE;
        if (!m.isStatic()) {
            s.self = new Var(Kind.BASE, 0, true);
        }
        if (s.oneIn(25)) {
            s.nextSlot = 250 + s.below(20);
        }
        boolean large = s.budget > 300;
        if (large) {
            m.body.statements.add(new Stmt((e, self) -> e.use(Feature.LARGE_METHOD)));
        }
        stmts.fill(m.body, large ? 100 : 2 + s.below(5));
        m.body.statements.add(stmts.returned());
    }
}
