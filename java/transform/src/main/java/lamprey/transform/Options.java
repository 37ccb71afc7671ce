package lamprey.transform;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What is transformed, and how. The defaults are those for a program that was written for {@code java.lang.Thread}. */
public final class Options {
    /** How transformed methods suspend. */
    public Mode mode = Mode.EXCEPTIONS;
    /** Whether names are replaced by the tables in {@code META-INF/lamprey/rewrites}, and monitors by locks of light threads. */
    public boolean rewrite = true;
    /** Patterns of the classes to transform; empty for all. See {@link Patterns}. */
    public final List<String> includes = new ArrayList<>();
    /** Patterns of the classes that stay as they are. */
    public final List<String> excludes = new ArrayList<>();
    /** Whether every call that could lead to a method of the program or to an implementation that is not known counts as suspending. */
    public boolean everything;
    /** Whether what is used may have been transformed with the other mode: for a library that is built for both. */
    public boolean anyMode;
    /** Whether other classes that the options select are transformed, but not seen now: as by an agent, which gets one after the other. */
    public boolean partial;
    /**
     * Interfaces, with dots, whose methods are taken to suspend although no implementation is seen that does; or {@code caller:type.method},
     * for calls of one method in one class only. The interfaces of {@code java.util.function} are always among them.
     */
    public final List<String> assume = new ArrayList<>(Arrays.asList("java.lang.Runnable", "java.util.concurrent.Callable", "java.security.PrivilegedAction",
        "java.security.PrivilegedExceptionAction"));

    /** Whether the class is one of those to transform. */
    boolean selects(String internalName) {
        return (includes.isEmpty() || Patterns.anyMatches(includes, internalName)) && !Patterns.anyMatches(excludes, internalName);
    }
}
