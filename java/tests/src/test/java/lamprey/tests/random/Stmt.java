package lamprey.tests.random;

/** A statement: begins and ends with the operand stack as it was. */
final class Stmt {
    /** Writes the instructions. */
    interface Code {
        void emit(Emit e, Stmt self);
    }

    final Code code;
    final Expr[] kids;
    final Block[] blocks;

    Stmt(Code code, Expr[] kids, Block... blocks) {
        this.code = code;
        this.kids = kids;
        this.blocks = blocks;
    }

    Stmt(Code code, Expr... kids) {
        this(code, kids, new Block[0]);
    }
}
