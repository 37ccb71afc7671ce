package lamprey.tests.weave.run;

import java.util.function.IntPredicate;
import lamprey.instrument.Execution;
import lamprey.instrument.MethodInfo;
import lamprey.instrument.Primitive;

/** A method that suspends or not, as the test says, and returns or throws what it was given, all the same. */
public final class Y {
    private static final MethodInfo INFO = MethodInfo.primitive(Y.class, "y", "(Ljava/lang/Object;)Ljava/lang/Object;");
    private static final MethodInfo FAIL = MethodInfo.primitive(Y.class, "fail", "(Ljava/lang/RuntimeException;)V");
    static IntPredicate suspends;
    static int calls;
    static Object value;
    static RuntimeException error;

    private Y() {}

    /** Returns {@code x}. */
    @Primitive
    public static Object y(Object x) {
        if (!suspends.test(calls++)) {
            return x;
        }
        value = x;
        error = null;
        return Execution.current().suspend(INFO);
    }

    /** Throws {@code e}. */
    @Primitive
    public static void fail(RuntimeException e) {
        if (!suspends.test(calls++)) {
            throw e;
        }
        value = null;
        error = e;
        Execution.current().suspend(FAIL);
    }
}
