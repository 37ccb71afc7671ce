package lamprey.tests.random;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Writes the instructions of one method. Knows which code is reachable (none else is written), where it stands ({@link Where}), and which
 * {@code finally} blocks a jump leaves: these are written again before the jump, and their ranges in the exception table have gaps there, as in the
 * output of javac.
 */
final class Emit extends MethodVisitor {
    static final String WORLD = "lamprey/tests/random/World";

    final Meth meth;
    private final int[] features;
    /** Bits of {@link Where}. */
    int where;
    /** The operands of a conditional jump are being written. */
    boolean inCondition;
    boolean reachable = true;
    private int instructions;
    private final Set<Label> targets = new HashSet<>();
    /** What a jump may leave, the innermost last. */
    List<Exit> exits = new ArrayList<>();

    Emit(Meth meth, MethodVisitor out, int[] features) {
        super(Opcodes.ASM9, out);
        this.meth = meth;
        this.features = features;
    }

    void use(Feature f) {
        features[f.ordinal()]++;
    }

    // Statements and expressions.

    void block(Block b) {
        for (Stmt s : b.statements) {
            if (!reachable) {
                return;
            }
            s.code.emit(this, s);
        }
    }

    void block(Block b, Where place) {
        int before = where;
        where |= place.bit();
        block(b);
        where = before;
    }

    void push(Expr x) {
        if (x.block != null) {
            use(Feature.BLOCK_WITH_OPERANDS);
            block(x.block);
        }
        x.code.emit(this, x.kids);
    }

    /** Pushes values one after the other; all but the first have operands below. */
    void push(Expr... all) {
        pushFrom(0, all);
    }

    void pushFrom(int first, Expr... all) {
        int before = where;
        for (int i = first; i < all.length; i++) {
            push(all[i]);
            below(all[i].kind);
        }
        where = before;
    }

    /** A value of this kind is on the stack while the next expressions are evaluated. */
    void below(Kind k) {
        where |= Where.OPERANDS_BELOW.bit();
        if (k.size() == 2) {
            use(Feature.LONG_BELOW);
        } else if (k.isReference()) {
            use(Feature.REFERENCE_BELOW);
        }
    }

    void load(Var v) {
        wide(v);
        visitVarInsn(v.kind.op(Opcodes.ILOAD), v.slot);
    }

    /** Stores the top of the stack, narrowed to the variable's type. */
    void store(Var v) {
        wide(v);
        narrow(v.kind);
        visitVarInsn(v.kind.op(Opcodes.ISTORE), v.slot);
    }

    private void wide(Var v) {
        if (v.slot > 255) {
            use(Feature.WIDE_LOCAL);
            where |= Where.WIDE_LOCALS.bit();
        }
    }

    void narrow(Kind k) {
        switch (k) {
            case BOOL:
                visitInsn(Opcodes.ICONST_1);
                visitInsn(Opcodes.IAND);
                break;
            case BYTE:
                visitInsn(Opcodes.I2B);
                break;
            case CHAR:
                visitInsn(Opcodes.I2C);
                break;
            case SHORT:
                visitInsn(Opcodes.I2S);
                break;
            default:
        }
    }

    void constant(int v) {
        if (v >= -1 && v <= 5) {
            visitInsn(Opcodes.ICONST_0 + v);
        } else if (v == (short) v) {
            visitIntInsn(v == (byte) v ? Opcodes.BIPUSH : Opcodes.SIPUSH, v);
        } else {
            visitLdcInsn(v);
        }
    }

    /** Calls a static method of {@link World}. */
    void world(String name, String desc) {
        visitMethodInsn(Opcodes.INVOKESTATIC, WORLD, name, desc, false);
    }

    /** Calls a primitive, which gets as last argument where it stands. */
    void primitive(String name, String desc) {
        constant(where);
        world(name, desc);
        if ((where & Where.CATCH.bit()) != 0) {
            use(Feature.CALL_IN_CATCH);
        }
        if ((where & Where.FINALLY.bit()) != 0) {
            use(Feature.CALL_IN_FINALLY);
        }
    }

    /** Records the top of the stack and removes it. */
    void trace(Kind k) {
        world("t", k.isReference() ? "(Ljava/lang/Object;)V" : "(" + k.stack().desc + ")V");
    }

    // Jumps.

    /** A place in the code. */
    static final class Mark {
        final Label label = new Label();
        int instructions;
    }

    Mark mark() {
        Mark m = new Mark();
        m.instructions = instructions;
        visitLabel(m.label);
        return m;
    }

    /** What encloses a statement and is left by a jump out of it: a loop, or a range of the exception table. */
    static final class Exit {
        /** Of a loop. */
        Label breaks;
        Label continues;
        /** Of a range: what runs when it is left; null if nothing. */
        Runnable cleanup;
        final List<Mark> bounds = new ArrayList<>();

        boolean isLoop() {
            return breaks != null;
        }
    }

    Exit openLoop(Label breaks, Label continues) {
        Exit x = new Exit();
        x.breaks = breaks;
        x.continues = continues;
        exits.add(x);
        return x;
    }

    Exit openRange(Runnable cleanup) {
        Exit x = new Exit();
        x.cleanup = cleanup;
        x.bounds.add(mark());
        exits.add(x);
        return x;
    }

    void close(Exit x) {
        exits.remove(x);
        if (!x.isLoop()) {
            x.bounds.add(mark());
        }
    }

    /** Adds the range, with its gaps, to the exception table. False if it is empty: the handler must not be written. */
    boolean cover(Exit x, Label handler, String type) {
        boolean any = false;
        for (int i = 0; i < x.bounds.size(); i += 2) {
            Mark from = x.bounds.get(i);
            Mark to = x.bounds.get(i + 1);
            if (from.instructions < to.instructions) {
                visitTryCatchBlock(from.label, to.label, handler, type);
                any = true;
            }
        }
        return any;
    }

    boolean leavesCleanup() {
        return exits.stream().anyMatch(x -> x.cleanup != null);
    }

    /** Runs the cleanups between here and {@code target} (null: the method's end), then {@code jump} if these complete. */
    void leave(Exit target, Runnable jump) {
        List<Exit> all = exits;
        List<Exit> gaps = new ArrayList<>();
        for (int i = all.size() - 1; i >= 0 && reachable && all.get(i) != target; i--) {
            Exit x = all.get(i);
            if (x.isLoop()) {
                continue;
            }
            x.bounds.add(mark());
            gaps.add(x);
            if (x.cleanup != null) {
                use(Feature.JUMP_THROUGH_FINALLY);
                exits = new ArrayList<>(all.subList(0, i));
                x.cleanup.run();
            }
        }
        exits = all;
        if (reachable) {
            jump.run();
        }
        for (Exit x : gaps) {
            x.bounds.add(mark());
        }
    }

    /** Places a label; code there is reachable if something jumps to it. */
    void label(Label l) {
        if (reachable || targets.contains(l)) {
            reachable = true;
            visitLabel(l);
        }
    }

    void handler(Label l) {
        reachable = true;
        visitLabel(l);
    }

    void jump(Label l) {
        if (reachable) {
            visitJumpInsn(Opcodes.GOTO, l);
        }
    }

    // Each instruction passes here, to be counted.

    @Override
    public void visitInsn(int opcode) {
        instructions++;
        super.visitInsn(opcode);
        if (opcode == Opcodes.ATHROW || opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
            reachable = false;
        }
    }

    @Override
    public void visitJumpInsn(int opcode, Label l) {
        instructions++;
        targets.add(l);
        super.visitJumpInsn(opcode, l);
        reachable &= opcode != Opcodes.GOTO;
    }

    @Override
    public void visitTableSwitchInsn(int min, int max, Label dflt, Label... labels) {
        instructions++;
        targets.add(dflt);
        targets.addAll(Arrays.asList(labels));
        super.visitTableSwitchInsn(min, max, dflt, labels);
        reachable = false;
    }

    @Override
    public void visitLookupSwitchInsn(Label dflt, int[] keys, Label[] labels) {
        instructions++;
        targets.add(dflt);
        targets.addAll(Arrays.asList(labels));
        super.visitLookupSwitchInsn(dflt, keys, labels);
        reachable = false;
    }

    @Override
    public void visitIntInsn(int opcode, int operand) {
        instructions++;
        super.visitIntInsn(opcode, operand);
    }

    @Override
    public void visitVarInsn(int opcode, int slot) {
        instructions++;
        super.visitVarInsn(opcode, slot);
    }

    @Override
    public void visitTypeInsn(int opcode, String type) {
        instructions++;
        super.visitTypeInsn(opcode, type);
    }

    @Override
    public void visitFieldInsn(int opcode, String owner, String name, String desc) {
        instructions++;
        super.visitFieldInsn(opcode, owner, name, desc);
    }

    @Override
    public void visitMethodInsn(int opcode, String owner, String name, String desc, boolean ofInterface) {
        instructions++;
        super.visitMethodInsn(opcode, owner, name, desc, ofInterface);
    }

    @Override
    public void visitInvokeDynamicInsn(String name, String desc, Handle bootstrap, Object... arguments) {
        instructions++;
        super.visitInvokeDynamicInsn(name, desc, bootstrap, arguments);
    }

    @Override
    public void visitLdcInsn(Object value) {
        instructions++;
        super.visitLdcInsn(value);
    }

    @Override
    public void visitIincInsn(int slot, int by) {
        instructions++;
        super.visitIincInsn(slot, by);
    }

    @Override
    public void visitMultiANewArrayInsn(String desc, int dimensions) {
        instructions++;
        super.visitMultiANewArrayInsn(desc, dimensions);
    }
}
