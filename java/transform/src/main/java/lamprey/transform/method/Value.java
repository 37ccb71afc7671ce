package lamprey.transform.method;

/** An operand: its type, as in {@link TypeState}, and where else its value is. */
final class Value {
    final Object type;
    /** The local that holds the same value; -1 if none is known to. */
    final int local;

    Value(Object type, int local) {
        this.type = type;
        this.local = local;
    }

    int size() {
        return Types.size(type);
    }
}
