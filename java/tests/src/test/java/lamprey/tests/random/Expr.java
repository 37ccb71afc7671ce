package lamprey.tests.random;

/** An expression: leaves one value of its kind on the operand stack. Its operands may be replaced by others of the same kind. */
final class Expr {
    /** Writes the instructions. */
    interface Code {
        void emit(Emit e, Expr[] kids);
    }

    final Kind kind;
    final Code code;
    final Expr[] kids;
    /** Statements inside; null if none. */
    final Block block;

    Expr(Kind kind, Code code, Expr... kids) {
        this(kind, null, code, kids);
    }

    Expr(Kind kind, Block block, Code code, Expr... kids) {
        this.kind = kind;
        this.code = code;
        this.kids = kids;
        this.block = block;
    }
}
