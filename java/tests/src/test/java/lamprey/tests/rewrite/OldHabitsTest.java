package lamprey.tests.rewrite;

import static lamprey.tests.rewrite.Sources.lines;
import static lamprey.tests.rewrite.Sources.same;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import lamprey.tests.Jdks;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What libraries for Java 8 do: {@code sun.misc.Unsafe}, privileged actions. */
@Timeout(240)
class OldHabitsTest {
    private static final String NAP = "static void nap() { try { Thread.sleep(1); Thread.yield(); } catch (InterruptedException e) { throw new RuntimeException(e); } }";
    private static final String UNSAFE = "static final sun.misc.Unsafe U = unsafe(); static sun.misc.Unsafe unsafe() { try { java.lang.reflect.Field f = sun.misc.Unsafe.class.getDeclaredField(\"theUnsafe\");"
        + " f.setAccessible(true); return (sun.misc.Unsafe) f.get(null); } catch (ReflectiveOperationException e) { throw new Error(e); } }";

    @Test
    void threads_park_by_unsafe() throws Exception {
        same(lines("import java.util.*; import java.util.concurrent.*; import java.util.concurrent.atomic.*; import java.util.concurrent.locks.LockSupport;",
            "@SuppressWarnings(\"removal\") public class P implements Runnable { static String result = \"\"; " + UNSAFE,
            "static final AtomicInteger held = new AtomicInteger(); static final Queue<Thread> waiting = new ConcurrentLinkedQueue<>(); static int count;",
            "static void lock() { if (held.compareAndSet(0, 1)) return; Thread me = Thread.currentThread(); waiting.add(me); while (waiting.peek() != me || !held.compareAndSet(0, 1)) U.park(false, 0L); waiting.remove(); }",
            "static void unlock() { held.set(0); U.unpark(waiting.peek()); }",
            "interface Park { void park(boolean absolute, long time); } interface Unpark { void unpark(Object thread); } static volatile boolean told;",
            "public void run() { try { Thread me = Thread.currentThread(); U.unpark(me); U.park(false, 0L); LockSupport.unpark(me); U.park(false, 0L); U.unpark(me); LockSupport.park(); result += \"permit \";",
            "U.park(false, 1_000_000L); U.park(false, -1L); U.park(true, System.currentTimeMillis() + 3); U.park(true, 0L); U.park(true, -5L); U.park(true, Long.MIN_VALUE); result += \"limits \";",
            "U.unpark(null); Park p = U::park; Unpark u = U::unpark; u.unpark(me); p.park(false, 0L); result += \"references \";",
            "List<Thread> all = new ArrayList<>(); for (int i = 0; i < 6; i++) { all.add(new Thread(() -> { for (int k = 0; k < 20; k++) { lock(); int c = count; Thread.yield(); count = c + 1; unlock(); } })); }",
            "for (Thread t : all) t.start(); for (Thread t : all) t.join(); result += count;",
            "Thread t = new Thread(() -> { while (!told) U.park(false, 0L); result += \" told\"; }); t.start(); told = true; U.unpark(t); t.join();",
            "Thread i = new Thread(() -> { while (!Thread.currentThread().isInterrupted()) U.park(false, 0L); U.park(false, 0L); result += \" interrupted\"; }); i.start(); i.interrupt(); i.join();",
            "sun.misc.Unsafe none = null; try { none.park(false, 0L); } catch (NullPointerException e) { result += \" none\"; }",
            "} catch (InterruptedException e) { result = \"interrupted\"; } } }"));
    }

    @Test
    void monitors_are_entered_by_unsafe() throws Exception {
        assumeTrue(Jdks.current() == 8, "these methods are JDK 8's");
        same(lines("import java.util.*; public class P implements Runnable { static String result = \"\"; " + UNSAFE + NAP, "static int count; static final Object LOCK = new Object();",
            "public void run() { try { List<Thread> all = new ArrayList<>(); for (int i = 0; i < 6; i++) { boolean unsafe = i % 2 == 0; all.add(new Thread(() -> { for (int k = 0; k < 5; k++) {",
            "if (unsafe) { U.monitorEnter(LOCK); int c = count; nap(); count = c + 1; U.monitorExit(LOCK); } else { synchronized (LOCK) { int c = count; nap(); count = c + 1; } } } })); }",
            "for (Thread t : all) t.start(); for (Thread t : all) t.join(); result += count; Thread other = new Thread(() -> result += U.tryMonitorEnter(LOCK));",
            "result += U.tryMonitorEnter(LOCK) + \" \" + Thread.holdsLock(LOCK); other.start(); other.join(); U.monitorExit(LOCK); result += Thread.holdsLock(LOCK);",
            "try { U.monitorExit(LOCK); } catch (IllegalMonitorStateException e) { result += \" not mine\"; } } catch (InterruptedException e) { result = \"interrupted\"; } } }"));
    }

    @Test
    void privileged_actions_wait() throws Exception {
        same(lines("import java.security.*; import java.util.*; @SuppressWarnings({\"deprecation\", \"removal\"}) public class P implements Runnable { static String result = \"\"; " + NAP,
            "static class Act implements PrivilegedAction<String> { public String run() { nap(); return \"act\"; } } interface Both { Object call(PrivilegedAction<Object> a); }",
            "static <T> T checked(PrivilegedExceptionAction<T> a, AccessControlContext c) { try { return c == null ? AccessController.doPrivileged(a) : AccessController.doPrivileged(a, c); }",
            "catch (PrivilegedActionException e) { nap(); result += \"[\" + e.getException() + e.getCause() + \"]\"; } catch (RuntimeException | Error e) { nap(); result += \"[\" + e.getClass() + \"]\"; } return null; }",
            "public void run() { AccessControlContext c = AccessController.getContext(); Permission all = new AllPermission(); result += AccessController.doPrivileged(new Act()) + AccessController.doPrivileged(new Act(), c);",
            "result += AccessController.doPrivileged(new Act(), c, all) + AccessController.doPrivilegedWithCombiner(new Act()) + AccessController.doPrivilegedWithCombiner(new Act(), c, all);",
            "result += AccessController.doPrivileged((PrivilegedAction<String>) () -> { nap(); return \"lambda\" + AccessController.doPrivileged((PrivilegedAction<String>) () -> { nap(); return \"nested\"; }); });",
            "Both b = AccessController::doPrivileged; result += b.call(() -> { nap(); return \"reference\"; });",
            "for (AccessControlContext x : new AccessControlContext[] {null, c}) { String got = checked(() -> { nap(); return 5; }, x) + \"\" + checked(() -> { nap(); throw new java.io.IOException(\"io\"); }, x)",
            "+ checked(() -> { nap(); throw new IllegalStateException(); }, x) + checked(() -> { nap(); throw new AssertionError(); }, x) + checked(null, x); result += got; }",
            "try { result += AccessController.doPrivileged((PrivilegedExceptionAction<String>) () -> { nap(); return \"p\"; }, c, all)",
            "+ AccessController.doPrivilegedWithCombiner((PrivilegedExceptionAction<String>) () -> { nap(); return \"q\"; }) + AccessController.doPrivilegedWithCombiner((PrivilegedExceptionAction<String>) () -> { nap(); return \"r\"; }, c, all);",
            "AccessController.doPrivileged((PrivilegedExceptionAction<String>) () -> { nap(); throw new java.io.IOException(\"limited\"); }, c, all); } catch (PrivilegedActionException e) { result += e.getException(); }",
            "try { AccessController.doPrivileged((PrivilegedAction<String>) () -> \"\", c, (Permission[]) null); } catch (NullPointerException e) { result += \" no permissions\"; }",
            "try { AccessController.doPrivileged((PrivilegedAction<Object>) null); } catch (NullPointerException e) { result += \" no action\"; }",
            "try { AccessController.doPrivileged((PrivilegedAction<Object>) () -> { nap(); throw new IllegalArgumentException(\"bad\"); }); } catch (IllegalArgumentException e) { result += e.getMessage(); } } }"));
    }

    @Test
    void the_jdk_makes_privileged_calls_where_somebody_looks() throws Exception {
        assumeTrue(Jdks.current() < 18, "there is no security manager any more");
        // Another JVM would print a warning.
        same("8", lines("import java.security.*; import javax.security.auth.*; @SuppressWarnings({\"deprecation\", \"removal\"}) public class P implements Runnable { static String result = \"\"; " + NAP,
            "static boolean byJdk() { for (StackTraceElement e : new Throwable().getStackTrace()) if (e.getClassName().equals(\"java.security.AccessController\")) return true; return false; }",
            "static class Lenient extends SecurityManager { public void checkPermission(Permission p) {} public void checkPermission(Permission p, Object c) {} }",
            "public void run() { nap(); PrivilegedAction<Boolean> a = P::byJdk; PrivilegedExceptionAction<Boolean> x = P::byJdk; System.setSecurityManager(new Lenient());",
            "try { result += AccessController.doPrivileged(a) + \" \" + AccessController.doPrivileged(x); try { AccessController.doPrivileged((PrivilegedExceptionAction<Boolean>) () -> { throw new Exception(\"e\"); }); }",
            "catch (PrivilegedActionException e) { result += e.getException().getMessage(); } } catch (PrivilegedActionException e) { result += e; } finally { System.setSecurityManager(null); }",
            "Subject s = new Subject(); AccessControlContext c = Subject.doAs(s, (PrivilegedAction<AccessControlContext>) AccessController::getContext);",
            "result += AccessController.doPrivileged((PrivilegedAction<Boolean>) () -> Subject.getSubject(AccessController.getContext()) == s, c); } }"));
    }
}
