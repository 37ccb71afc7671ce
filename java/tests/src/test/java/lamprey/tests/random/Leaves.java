package lamprey.tests.random;

import org.objectweb.asm.Opcodes;

/** Expressions without operands, and the assignments to what they read. */
final class Leaves implements Opcodes {
    private static final int[] INTS = {-1, 0, 1, 2, 3, 5, 6, 127, 128, 300, -40000, 70000, Integer.MAX_VALUE, Integer.MIN_VALUE};
    private static final String[] STRINGS = {"", "a", "xyz", "lamprey", "\u00e4\u4e00"};

    private final Scope s;

    Leaves(Scope scope) {
        this.s = scope;
    }

    Expr leaf(Kind k) {
        Var v = s.find(k, false);
        if (v != null && !s.oneIn(4)) {
            return variable(v);
        }
        if (s.oneIn(5) && k != Kind.THROWABLE && k != Kind.GRID) {
            return new Expr(k, (e, kids) -> {
                e.use(Feature.STATIC_FIELD);
                e.visitFieldInsn(GETSTATIC, Program.G, Program.field(k), k.desc);
            });
        }
        if (k == Kind.BASE && s.self != null && s.oneIn(2)) {
            return self();
        }
        return constant(k);
    }

    Expr variable(Var v) {
        return new Expr(v.kind.stack(), (e, kids) -> e.load(v));
    }

    /** The receiver as a {@code gen.B}. */
    Expr self() {
        return new Expr(Kind.BASE, (e, kids) -> {
            e.load(s.self);
            if (e.meth.inInterface()) {
                e.visitTypeInsn(CHECKCAST, Program.B);
            }
        });
    }

    Expr constant(Kind k) {
        switch (k.stack()) {
            case INT: {
                int v = INTS[s.below(INTS.length)];
                return new Expr(k, (e, kids) -> e.constant(v));
            }
            case LONG:
                return ldc(k, s.oneIn(3) ? s.random.nextLong() : (long) s.below(5));
            case FLOAT:
                return ldc(k, s.oneIn(5) ? Float.NaN : s.below(9) / 2f);
            case DOUBLE:
                return ldc(k, s.oneIn(5) ? Double.POSITIVE_INFINITY : s.below(9) / 4d);
            default:
                return s.oneIn(16) ? zero(k) : reference(k);
        }
    }

    private Expr ldc(Kind k, Object v) {
        return new Expr(k, (e, kids) -> e.visitLdcInsn(v));
    }

    private Expr reference(Kind k) {
        switch (k) {
            case STRING:
            case OBJECT:
                return ldc(k, s.pick(STRINGS));
            case INTS:
                return array(k, 4, e -> e.visitIntInsn(NEWARRAY, T_INT));
            case LONGS:
                return array(k, 3, e -> e.visitIntInsn(NEWARRAY, T_LONG));
            case OBJECTS:
                return array(k, 3, e -> e.visitTypeInsn(ANEWARRAY, "java/lang/Object"));
            case GRID:
                return new Expr(k, (e, kids) -> {
                    e.constant(2);
                    e.constant(4);
                    e.visitMultiANewArrayInsn("[[I", 2);
                });
            case BASE:
                return new Expr(k, (e, kids) -> {
                    e.visitTypeInsn(NEW, Program.B);
                    e.visitInsn(DUP);
                    e.visitMethodInsn(INVOKESPECIAL, Program.B, "<init>", "()V", false);
                });
            default:
                return new Expr(k, (e, kids) -> {
                    e.visitTypeInsn(NEW, "lamprey/tests/random/Boom");
                    e.visitInsn(DUP);
                    e.visitLdcInsn("constant");
                    e.visitMethodInsn(INVOKESPECIAL, "lamprey/tests/random/Boom", "<init>", "(Ljava/lang/String;)V", false);
                });
        }
    }

    private interface NewArray {
        void emit(Emit e);
    }

    private static Expr array(Kind k, int length, NewArray make) {
        return new Expr(k, (e, kids) -> {
            e.constant(length);
            make.emit(e);
        });
    }

    /** The value that shrinking puts in the place of others. */
    static Expr zero(Kind k) {
        return new Expr(k, (e, kids) -> {
            switch (k.stack()) {
                case INT:
                    e.visitInsn(ICONST_0);
                    break;
                case LONG:
                    e.visitInsn(LCONST_0);
                    break;
                case FLOAT:
                    e.visitInsn(FCONST_0);
                    break;
                case DOUBLE:
                    e.visitInsn(DCONST_0);
                    break;
                default:
                    e.use(Feature.NULL_CONSTANT);
                    e.visitInsn(ACONST_NULL);
            }
        });
    }
}
