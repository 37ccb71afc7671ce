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

    /** Types of handlers that catch a {@code PinnedError}. */
    static final Set<String> ERRORS = Collections.unmodifiableSet(new HashSet<>(Arrays.asList(THROWABLE, "java/lang/Error", PINNED)));
    /** Types of handlers that catch a {@code Suspend}. */
    static final Set<String> SUSPENDS = Collections.unmodifiableSet(new HashSet<>(Arrays.asList(THROWABLE, "java/lang/Error")));

    private Runtime() {}
}
