package lamprey.tests.random;

import org.objectweb.asm.Opcodes;

/** Random arithmetic, conversions, accesses of fields and arrays, and what they do with the operand stack. */
final class Operators implements Opcodes {
    private static final int[] OF_INTEGERS = {IADD, ISUB, IMUL, IDIV, IREM, IAND, IOR, IXOR, ISHL, ISHR, IUSHR};
    private static final Kind[] REFERENCES = {Kind.STRING, Kind.INTS, Kind.LONGS, Kind.BASE, Kind.OBJECTS, Kind.GRID};

    private final Exprs x;
    private final Scope s;

    Operators(Exprs exprs, Scope scope) {
        this.x = exprs;
        this.s = scope;
    }

    Expr of(Kind k) {
        switch (k) {
            case INT:
                return ofInt();
            case LONG:
            case FLOAT:
            case DOUBLE:
                return s.oneIn(4) ? converted(k) : s.oneIn(5) ? field(k) : k == Kind.LONG && s.oneIn(4) ? element(k, Kind.LONGS) : arithmetic(k);
            case STRING:
                return string();
            case OBJECT:
                return object();
            case INTS:
                return s.oneIn(3) ? literal(k, Kind.INT) : s.oneIn(3) ? element(k, Kind.GRID) : cloned(k);
            case LONGS:
                return s.oneIn(2) ? literal(k, Kind.LONG) : cloned(k);
            case OBJECTS:
                return s.oneIn(2) ? literal(k, Kind.OBJECT) : cloned(k);
            case BASE:
                return s.oneIn(8) ? cast(k) : x.calls().creation();
            default:
                return x.leaves.leaf(k);
        }
    }

    private Expr ofInt() {
        switch (s.below(10)) {
            case 0:
                return converted(Kind.INT);
            case 1:
                return element(Kind.INT, Kind.INTS);
            case 2:
                return field(Kind.INT);
            case 3:
                return comparison();
            case 4:
                return instanceOf();
            case 5:
                return new Expr(Kind.INT, (e, kids) -> {
                    e.push(kids);
                    e.visitInsn(ARRAYLENGTH);
                }, x.expr(s.oneIn(2) ? Kind.INTS : Kind.OBJECTS));
            case 6:
                return narrowed();
            default:
                return arithmetic(Kind.INT);
        }
    }

    private Expr arithmetic(Kind k) {
        boolean integer = k == Kind.INT || k == Kind.LONG;
        int opcode = OF_INTEGERS[s.below(integer ? 11 : 5)];
        Kind second = opcode == ISHL || opcode == ISHR || opcode == IUSHR ? Kind.INT : k;
        if (s.oneIn(5) && second == k) {
            // The operand with itself.
            return new Expr(k, (e, kids) -> {
                e.use(k.size() == 2 ? Feature.DUP2_WIDE : Feature.DUP);
                e.push(kids);
                e.visitInsn(k.size() == 2 ? DUP2 : DUP);
                e.visitInsn(k.op(opcode));
            }, x.expr(k));
        }
        boolean swapped = s.oneIn(6) && k.size() == 1;
        return new Expr(k, (e, kids) -> {
            e.push(kids);
            if (swapped) {
                e.use(Feature.SWAP);
                e.visitInsn(SWAP);
            }
            e.visitInsn(k.op(opcode));
        }, x.exprs(k, second));
    }

    private Expr converted(Kind to) {
        Kind from = s.pick(new Kind[] {Kind.INT, Kind.LONG, Kind.FLOAT, Kind.DOUBLE});
        int[][] opcodes = {{NOP, I2L, I2F, I2D}, {L2I, NOP, L2F, L2D}, {F2I, F2L, NOP, F2D}, {D2I, D2L, D2F, NOP}};
        int opcode = opcodes[number(from)][number(to)];
        return new Expr(to, (e, kids) -> {
            e.use(Feature.CONVERSION);
            e.push(kids);
            e.visitInsn(opcode);
        }, x.expr(from));
    }

    private static int number(Kind k) {
        return k == Kind.INT ? 0 : k == Kind.LONG ? 1 : k == Kind.FLOAT ? 2 : 3;
    }

    private Expr narrowed() {
        Kind k = s.pick(new Kind[] {Kind.BOOL, Kind.BYTE, Kind.CHAR, Kind.SHORT});
        return new Expr(Kind.INT, (e, kids) -> {
            e.push(kids);
            e.narrow(k);
        }, x.expr(Kind.INT));
    }

    private Expr comparison() {
        Kind k = s.pick(new Kind[] {Kind.LONG, Kind.FLOAT, Kind.DOUBLE});
        int opcode = k == Kind.LONG ? LCMP : k == Kind.FLOAT ? FCMPL : DCMPG;
        return new Expr(Kind.INT, (e, kids) -> {
            e.push(kids);
            e.visitInsn(opcode);
        }, x.exprs(k, k));
    }

    private Expr instanceOf() {
        String type = s.pick(new String[] {"java/lang/String", Program.S, Program.B, "[I", Program.I});
        return new Expr(Kind.INT, (e, kids) -> {
            e.use(Feature.INSTANCE_OF);
            e.push(kids);
            e.visitTypeInsn(INSTANCEOF, type);
        }, x.expr(Kind.OBJECT));
    }

    private Expr cast(Kind k) {
        return new Expr(k, (e, kids) -> {
            e.use(Feature.CAST);
            e.push(kids);
            e.visitTypeInsn(CHECKCAST, k.internalName());
        }, x.expr(Kind.OBJECT));
    }

    private Expr string() {
        if (s.oneIn(3)) {
            Kind k = s.pick(new Kind[] {Kind.INT, Kind.LONG, Kind.DOUBLE, Kind.FLOAT});
            return new Expr(Kind.STRING, (e, kids) -> {
                e.use(Feature.STRING_VALUE);
                e.push(kids);
                e.visitMethodInsn(INVOKESTATIC, "java/lang/String", "valueOf", "(" + k.desc + ")Ljava/lang/String;", false);
            }, x.expr(k));
        }
        if (s.oneIn(8)) {
            return cast(Kind.STRING);
        }
        return new Expr(Kind.STRING, (e, kids) -> {
            e.push(kids);
            e.visitMethodInsn(INVOKESTATIC, Emit.WORLD, "concat", "(Ljava/lang/String;Ljava/lang/String;)Ljava/lang/String;", false);
        }, x.exprs(Kind.STRING, Kind.STRING));
    }

    private Expr object() {
        switch (s.below(4)) {
            case 0:
                return new Expr(Kind.OBJECT, (e, kids) -> {
                    e.push(kids);
                    e.visitMethodInsn(INVOKESTATIC, "java/lang/Integer", "valueOf", "(I)Ljava/lang/Integer;", false);
                }, x.expr(Kind.INT));
            case 1:
                return element(Kind.OBJECT, Kind.OBJECTS);
            case 2:
                return field(Kind.OBJECT);
            default: {
                return new Expr(Kind.OBJECT, (e, kids) -> e.push(kids), x.expr(s.pick(REFERENCES)));
            }
        }
    }

    private Expr cloned(Kind k) {
        return new Expr(k, (e, kids) -> {
            e.use(Feature.CLONE_OF_ARRAY);
            e.push(kids);
            e.visitMethodInsn(INVOKEVIRTUAL, k.internalName(), "clone", "()Ljava/lang/Object;", false);
            e.visitTypeInsn(CHECKCAST, k.internalName());
        }, x.expr(k));
    }

    private Expr literal(Kind k, Kind element) {
        return new Expr(k, (e, kids) -> {
            e.use(Feature.ARRAY_LITERAL);
            int before = e.where;
            e.constant(kids.length);
            if (element == Kind.OBJECT) {
                e.visitTypeInsn(ANEWARRAY, "java/lang/Object");
            } else {
                e.visitIntInsn(NEWARRAY, element == Kind.INT ? T_INT : T_LONG);
            }
            e.below(k);
            e.where |= Where.ARRAY_LITERAL.bit();
            for (int i = 0; i < kids.length; i++) {
                e.visitInsn(DUP);
                e.constant(i);
                e.push(kids[i]);
                e.visitInsn(element.op(IASTORE));
            }
            e.where = before;
        }, s.oneIn(2) ? x.exprs(element, element) : x.exprs(element, element, element));
    }

    /** An index that is mostly within bounds. */
    private static void index(Emit e, Kind array) {
        e.constant(array == Kind.GRID ? 1 : 3);
        e.visitInsn(IAND);
    }

    private Expr element(Kind k, Kind array) {
        return new Expr(k, (e, kids) -> {
            e.push(kids);
            index(e, array);
            e.visitInsn(k.op(IALOAD));
        }, x.exprs(array, Kind.INT));
    }

    private Expr field(Kind k) {
        String name = k == Kind.LONG && s.oneIn(3) ? "last" : Program.field(k);
        return new Expr(k, (e, kids) -> {
            e.push(kids);
            e.visitFieldInsn(GETFIELD, Program.B, name, k.desc);
        }, x.expr(Kind.BASE));
    }

    /** An assignment as an expression: keeps a copy of the value below what the store takes. */
    Expr assignment(Kind k) {
        Kind array = k == Kind.INT ? Kind.INTS : k == Kind.LONG ? Kind.LONGS : k == Kind.OBJECT ? Kind.OBJECTS : null;
        switch (s.below(5)) {
            case 0:
                if (array != null) {
                    return arrayStore(k, array);
                }
                break;
            case 1:
                if (k == Kind.INT || k == Kind.LONG) {
                    return arrayCompound(k, array);
                }
                break;
            case 2:
                if (k == Kind.INT || k == Kind.LONG || k == Kind.DOUBLE) {
                    return fieldCompound(k);
                }
                break;
            case 3:
                if (k != Kind.GRID) {
                    return fieldStore(k);
                }
                break;
            default:
        }
        Var v = s.find(k, true);
        if (v == null) {
            return of(k);
        }
        return new Expr(k, (e, kids) -> {
            e.push(kids);
            e.use(k.size() == 2 ? Feature.DUP2_WIDE : Feature.DUP);
            e.visitInsn(k.size() == 2 ? DUP2 : DUP);
            e.store(v);
        }, x.expr(k));
    }

    private Expr arrayStore(Kind k, Kind array) {
        return new Expr(k, (e, kids) -> {
            int before = e.where;
            e.push(kids[0]);
            e.below(array);
            e.push(kids[1]);
            index(e, array);
            e.push(kids[2]);
            e.where = before;
            e.use(k.size() == 2 ? Feature.DUP2_X2 : Feature.DUP_X2);
            e.visitInsn(k.size() == 2 ? DUP2_X2 : DUP_X2);
            e.visitInsn(k.op(IASTORE));
        }, x.exprs(array, Kind.INT, k));
    }

    private Expr arrayCompound(Kind k, Kind array) {
        return new Expr(k, (e, kids) -> {
            e.use(Feature.ARRAY_COMPOUND);
            e.use(Feature.DUP2_PAIR);
            int before = e.where;
            e.push(kids[0], kids[1]);
            index(e, array);
            e.visitInsn(DUP2);
            e.visitInsn(k.op(IALOAD));
            e.below(array);
            e.push(kids[2]);
            e.where = before;
            e.visitInsn(k.op(IADD));
            e.visitInsn(k.size() == 2 ? DUP2_X2 : DUP_X2);
            e.visitInsn(k.op(IASTORE));
        }, x.exprs(array, Kind.INT, k));
    }

    private Expr fieldStore(Kind k) {
        return new Expr(k, (e, kids) -> {
            e.push(kids);
            e.use(k.size() == 2 ? Feature.DUP2_X1 : Feature.DUP_X1);
            e.visitInsn(k.size() == 2 ? DUP2_X1 : DUP_X1);
            e.visitFieldInsn(PUTFIELD, Program.B, Program.field(k), k.desc);
        }, x.exprs(Kind.BASE, k));
    }

    private Expr fieldCompound(Kind k) {
        return new Expr(k, (e, kids) -> {
            e.use(Feature.FIELD_COMPOUND);
            int before = e.where;
            e.push(kids[0]);
            e.visitInsn(DUP);
            e.visitFieldInsn(GETFIELD, Program.B, Program.field(k), k.desc);
            e.below(k);
            e.push(kids[1]);
            e.where = before;
            e.visitInsn(k.op(ISUB));
            e.visitInsn(k.size() == 2 ? DUP2_X1 : DUP_X1);
            e.visitFieldInsn(PUTFIELD, Program.B, Program.field(k), k.desc);
        }, x.exprs(Kind.BASE, k));
    }
}
