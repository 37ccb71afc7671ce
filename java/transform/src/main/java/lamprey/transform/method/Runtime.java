package lamprey.transform.method;

import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;

/** The names of what generated code uses of the runtime. */
final class Runtime {
    static final String PACKAGE = "lamprey/instrument/";
    static final String FRAME = PACKAGE + "Frame";
    static final String RESUME = PACKAGE + "Resume";
    static final String SUSPEND = PACKAGE + "Suspend";
    static final String EXECUTION = PACKAGE + "Execution";
    static final String INFO = PACKAGE + "MethodInfo";
    static final String PINNED = PACKAGE + "PinnedError";
    static final String RETURNING = PACKAGE + "Returning";
    static final String OBJECT = "java/lang/Object";
    static final String THROWABLE = "java/lang/Throwable";

    /** Types of handlers that catch an error by which the JVM may fail while a frame is being saved, and no {@code Suspend}. */
    static final Set<String> FAILURES = Collections.unmodifiableSet(new HashSet<>(Arrays.asList("java/lang/VirtualMachineError", "java/lang/StackOverflowError",
        "java/lang/OutOfMemoryError", "java/lang/InternalError", "java/lang/UnknownError")));
    /** Types of handlers that catch what saving a frame may throw: a {@code PinnedError}, or an error of the JVM. */
    static final Set<String> ERRORS;
    /** Types of handlers that catch a {@code Suspend}. */
    static final Set<String> SUSPENDS = Collections.unmodifiableSet(new HashSet<>(Arrays.asList(THROWABLE, "java/lang/Error")));

    static {
        Set<String> errors = new HashSet<>(FAILURES);
        errors.addAll(SUSPENDS);
        errors.add(PINNED);
        ERRORS = Collections.unmodifiableSet(errors);
    }

    private Runtime() {}
}
