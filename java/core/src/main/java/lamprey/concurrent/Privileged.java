package lamprey.concurrent;

import java.security.AccessControlContext;
import java.security.AccessController;
import java.security.Permission;
import java.security.PrivilegedAction;
import java.security.PrivilegedActionException;
import java.security.PrivilegedExceptionAction;

/**
 * {@code AccessController.doPrivileged}, for rewritten programs. Without a security manager nobody asks for privileges, and the action is called here, where it may block.
 * Otherwise the JDK calls it, and it must not; also with a context that somebody can find again, as it has a {@code DomainCombiner} (a JAAS
 * {@code Subject}). What is null is the JDK's to judge.
 */
public final class Privileged {
    private Privileged() {}

    private static boolean matters(AccessControlContext c) {
        return System.getSecurityManager() != null || c != null && c.getDomainCombiner() != null;
    }

    private static <T> T run(PrivilegedExceptionAction<T> a) throws PrivilegedActionException {
        try {
            return a.run();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new PrivilegedActionException(e);
        }
    }

    /** {@code AccessController.doPrivileged(a)}. Blocks if the action does. */
    public static <T> T doPrivileged(PrivilegedAction<T> a) {
        return matters(null) ? AccessController.doPrivileged(a) : a.run();
    }

    /** {@code AccessController.doPrivileged(a)}. Blocks if the action does. */
    public static <T> T doPrivileged(PrivilegedExceptionAction<T> a) throws PrivilegedActionException {
        return matters(null) ? AccessController.doPrivileged(a) : run(a);
    }

    /** {@code AccessController.doPrivileged(a, c)}. Blocks if the action does. */
    public static <T> T doPrivileged(PrivilegedAction<T> a, AccessControlContext c) {
        return matters(c) ? AccessController.doPrivileged(a, c) : a.run();
    }

    /** {@code AccessController.doPrivileged(a, c)}. Blocks if the action does. */
    public static <T> T doPrivileged(PrivilegedExceptionAction<T> a, AccessControlContext c) throws PrivilegedActionException {
        return matters(c) ? AccessController.doPrivileged(a, c) : run(a);
    }

    /** {@code AccessController.doPrivileged(a, c, p)}. Blocks if the action does. */
    public static <T> T doPrivileged(PrivilegedAction<T> a, AccessControlContext c, Permission... p) {
        return p == null || matters(c) ? AccessController.doPrivileged(a, c, p) : a.run();
    }

    /** {@code AccessController.doPrivileged(a, c, p)}. Blocks if the action does. */
    public static <T> T doPrivileged(PrivilegedExceptionAction<T> a, AccessControlContext c, Permission... p) throws PrivilegedActionException {
        return p == null || matters(c) ? AccessController.doPrivileged(a, c, p) : run(a);
    }

    /** {@code AccessController.doPrivilegedWithCombiner(a)}. Blocks if the action does. */
    public static <T> T doPrivilegedWithCombiner(PrivilegedAction<T> a) {
        return matters(null) ? AccessController.doPrivilegedWithCombiner(a) : a.run();
    }

    /** {@code AccessController.doPrivilegedWithCombiner(a)}. Blocks if the action does. */
    public static <T> T doPrivilegedWithCombiner(PrivilegedExceptionAction<T> a) throws PrivilegedActionException {
        return matters(null) ? AccessController.doPrivilegedWithCombiner(a) : run(a);
    }

    /** {@code AccessController.doPrivilegedWithCombiner(a, c, p)}. Blocks if the action does. */
    public static <T> T doPrivilegedWithCombiner(PrivilegedAction<T> a, AccessControlContext c, Permission... p) {
        return p == null || matters(c) ? AccessController.doPrivilegedWithCombiner(a, c, p) : a.run();
    }

    /** {@code AccessController.doPrivilegedWithCombiner(a, c, p)}. Blocks if the action does. */
    public static <T> T doPrivilegedWithCombiner(PrivilegedExceptionAction<T> a, AccessControlContext c, Permission... p) throws PrivilegedActionException {
        return p == null || matters(c) ? AccessController.doPrivilegedWithCombiner(a, c, p) : run(a);
    }
}
