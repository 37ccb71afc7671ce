package lamprey.tests.random;

import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/** Random calls of the program's own methods and constructors. */
final class Invocations implements Opcodes {
    private static final Handle METAFACTORY = new Handle(H_INVOKESTATIC, "java/lang/invoke/LambdaMetafactory", "metafactory",
        "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;Ljava/lang/invoke/MethodType;"
            + "Ljava/lang/invoke/MethodHandle;Ljava/lang/invoke/MethodType;)Ljava/lang/invoke/CallSite;", false);
    private static final String FN = "lamprey/tests/random/Fn";
    private static final String FN_DESC = "(Ljava/lang/Object;J)Ljava/lang/Object;";

    private final Exprs x;
    private final Scope s;

    Invocations(Exprs exprs, Scope scope) {
        this.x = exprs;
        this.s = scope;
    }

    /** A call that returns a kind; null if no method does. */
    Expr returning(Kind k) {
        if (k == Kind.OBJECT && s.sites && s.meth.owner.equals(Program.G) && s.oneIn(8)) {
            return lambda();
        }
        List<Meth> all = new ArrayList<>();
        for (Meth m : s.program.methods) {
            if (m.result.stack() == k && callable(m)) {
                all.add(m);
            }
        }
        return all.isEmpty() ? null : call(all.get(s.below(all.size())));
    }

    private boolean callable(Meth m) {
        switch (m.role) {
            case PURE:
                return s.meth.role != Meth.Role.PURE;
            case LAMBDA:
            case CONSTRUCTOR:
                return false;
            case PRIVATE:
                return s.sites && s.meth.owner.equals(m.owner);
            case VIRTUAL:
                return s.sites && m.owner.equals(Program.B);
            default:
                return s.sites;
        }
    }

    private Expr call(Meth m) {
        boolean toSuper = m.role == Meth.Role.VIRTUAL && s.self != null && s.oneIn(2)
            && (s.meth.owner.equals(Program.S) || s.meth.owner.equals(Program.U));
        boolean byClass = m.role == Meth.Role.DEFAULT && s.oneIn(3);
        Expr[] kids = new Expr[m.params.length + (m.isStatic() ? 0 : 1)];
        int first = 0;
        if (!m.isStatic()) {
            kids[first++] = toSuper ? x.leaves.self() : x.expr(Kind.BASE);
        }
        for (Kind p : m.params) {
            kids[first++] = x.expr(p);
        }
        return new Expr(m.result.stack(), (e, now) -> {
            used(e, m, toSuper);
            int before = e.where;
            if (toSuper) {
                e.load(s.self);
                e.below(Kind.BASE);
                arguments(e, m, 1, now);
                String of = e.meth.owner.equals(Program.U) ? Program.S : Program.B;
                e.visitMethodInsn(INVOKESPECIAL, of, m.name, m.desc(), false);
            } else {
                arguments(e, m, 0, now);
                int opcode = byClass ? INVOKEVIRTUAL : m.callOpcode();
                e.visitMethodInsn(opcode, byClass ? Program.B : m.owner, m.name, m.desc(), m.inInterface() && !byClass);
            }
            e.where = before;
        }, kids);
    }

    /** Pushes what the method takes, narrowed to the parameters' types. */
    private static void arguments(Emit e, Meth m, int from, Expr[] kids) {
        int receiver = m.isStatic() || m.role == Meth.Role.CONSTRUCTOR ? 0 : 1;
        for (int i = from; i < kids.length; i++) {
            e.push(kids[i]);
            if (i >= receiver) {
                e.narrow(m.params[i - receiver]);
            }
            e.below(kids[i].kind);
        }
    }

    private static void used(Emit e, Meth m, boolean toSuper) {
        switch (m.role) {
            case STATIC:
                e.use(Feature.CALL_STATIC);
                break;
            case INTERFACE_STATIC:
                e.use(Feature.CALL_STATIC_OF_INTERFACE);
                break;
            case DEFAULT:
                e.use(Feature.CALL_INTERFACE);
                break;
            case PRIVATE:
                e.use(Feature.CALL_PRIVATE);
                break;
            case PURE:
                e.use(Feature.CALL_PURE);
                break;
            default:
                e.use(toSuper ? Feature.CALL_SUPER : Feature.CALL_VIRTUAL);
        }
        if (m == e.meth) {
            e.use(Feature.RECURSION);
        }
        if (m.result == Kind.VOID) {
            e.use(Feature.VOID_CALL);
        } else if (m.result.stack() != m.result) {
            e.use(Feature.NARROW_RESULT);
        }
    }

    /** {@code new} of one of the classes. */
    Expr creation() {
        Meth c = s.program.constructors.get(s.below(s.program.constructors.size()));
        if (!s.sites) {
            return x.leaves.constant(Kind.BASE);
        }
        Expr[] kids = x.exprs(c.params);
        return new Expr(Kind.BASE, (e, now) -> {
            create(e, c, now, true);
        }, kids);
    }

    /** {@code new} whose value is not used: no copy of the reference is made. */
    Stmt creationDropped() {
        Meth c = s.program.constructors.get(s.below(s.program.constructors.size()));
        boolean copied = s.oneIn(2);
        return new Stmt((e, self) -> {
            create(e, c, self.kids, copied);
            if (copied) {
                e.use(Feature.POP);
                e.visitInsn(POP);
            } else {
                e.use(Feature.NEW_DROPPED);
            }
        }, x.exprs(c.params));
    }

    private static void create(Emit e, Meth c, Expr[] kids, boolean copied) {
        e.use(Feature.NEW);
        if ((e.where & Where.ARGUMENTS_OF_NEW.bit()) != 0) {
            e.use(Feature.NEW_NESTED);
        }
        if ((e.where & Where.TERNARY.bit()) != 0) {
            e.use(Feature.NEW_WITH_TERNARY);
        }
        if (e.inCondition) {
            e.use(Feature.NEW_IN_CONDITION);
        }
        int before = e.where;
        e.where |= Where.ARGUMENTS_OF_NEW.bit();
        e.visitTypeInsn(NEW, c.owner);
        if (copied) {
            e.visitInsn(DUP);
        }
        arguments(e, c, 0, kids);
        e.visitMethodInsn(INVOKESPECIAL, c.owner, "<init>", c.desc(), false);
        e.where = before;
    }

    private Expr lambda() {
        Meth body = s.program.lambdas.get(s.below(s.program.lambdas.size()));
        int captured = body.params.length - 2;
        Kind[] kinds = java.util.Arrays.copyOf(body.params, captured);
        Expr[] kids = java.util.Arrays.copyOf(x.exprs(kinds), captured + 2);
        kids[captured] = x.expr(Kind.OBJECT);
        kids[captured + 1] = x.expr(Kind.LONG);
        StringBuilder captures = new StringBuilder("(");
        for (Kind k : kinds) {
            captures.append(k.desc);
        }
        Handle handle = new Handle(H_INVOKESTATIC, body.owner, body.name, body.desc(), false);
        return new Expr(Kind.OBJECT, (e, now) -> {
            e.use(Feature.CALL_LAMBDA);
            int before = e.where;
            for (int i = 0; i < captured; i++) {
                e.push(now[i]);
                e.narrow(kinds[i]);
                e.below(kinds[i]);
            }
            e.visitInvokeDynamicInsn("call", captures + ")L" + FN + ";", METAFACTORY, Type.getMethodType(FN_DESC), handle,
                Type.getMethodType(FN_DESC));
            e.below(Kind.OBJECT);
            e.pushFrom(captured, now);
            e.visitMethodInsn(INVOKEINTERFACE, FN, "call", FN_DESC, true);
            e.where = before;
        }, kids);
    }
}
