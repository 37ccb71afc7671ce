package lamprey.tests.random;

/** Where a primitive is called from. The campaign asserts that a thread has been suspended in each of these places. */
enum Where {
    OPERANDS_BELOW, TRY, CATCH, FINALLY, MONITOR, LOOP, LOOP_WITH_OPERANDS, SWITCH, TERNARY, ARGUMENTS_OF_NEW, CONSTRUCTOR, CONSTRUCTOR_SUBCLASS,
    STATIC, VIRTUAL, PRIVATE, DEFAULT, INTERFACE_STATIC, LAMBDA, WIDE_LOCALS, ARRAY_LITERAL;

    int bit() {
        return 1 << ordinal();
    }
}
