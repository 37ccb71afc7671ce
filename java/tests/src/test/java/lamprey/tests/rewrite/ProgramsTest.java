package lamprey.tests.rewrite;

import static lamprey.tests.rewrite.Sources.lines;
import static lamprey.tests.rewrite.Sources.NEWEST;
import static lamprey.tests.rewrite.Sources.same;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Plain programs do the same when their threads are light, at class file levels 52 and 61. */
@Timeout(240)
class ProgramsTest {
    private static final String NAP = "static void nap() { try { Thread.sleep(1); Thread.yield(); } catch (InterruptedException e) { throw new RuntimeException(e); } }";

    @Test
    void references_of_all_kinds_suspend() throws Exception {
        same(lines("import java.util.function.*; import java.util.*;", "public class P implements Runnable { static String result = \"\"; " + NAP,
            "final int k; public P() { this(3); } P(int k) { nap(); this.k = k; nap(); }",
            "static int stat(long x) { nap(); return (int) x + 1; } int inst(Integer o) { nap(); return o + k; } Integer boxed() { nap(); return k; }",
            "private void priv(String s) { nap(); result += s; } static long prim(int i) { nap(); return i; } static int[] arr(Object[] o) { nap(); return new int[o.length]; }",
            "static String var(String... s) { nap(); return String.join(\"+\", s); } interface Def { int base(); default int twice() { nap(); return base() * 2; } }",
            "class Inner { int get() { nap(); return k * 10; } }",
            "public void run() { IntFunction<Object> f = P::stat; Function<Integer, Number> g = new P(5)::inst; ToLongFunction<P> h = P::boxed; Supplier<P> s = P::new;",
            "IntFunction<P> s1 = P::new; Consumer<String> c = new P()::priv; IntToDoubleFunction d = P::prim; BiFunction<P, Integer, Object> u = P::inst;",
            "Function<String[], Object> z = P::arr; BinaryOperator<String> v = P::var; Def def = this::boxed; Supplier<Inner> in = Inner::new; IntFunction<P[]> ar = P[]::new;",
            "IntSupplier tw = def::twice; c.accept(\"p\"); result += f.apply(1) + \" \" + g.apply(2) + \" \" + h.applyAsLong(new P(8)) + s.get().k + s1.apply(4).k + d.applyAsDouble(3);",
            "result += u.apply(new P(1), 1) + \" \" + ((int[]) z.apply(new String[3])).length + v.apply(\"a\", \"b\") + tw.getAsInt() + in.get().get() + ar.apply(2).length;",
            "P nul = null; try { Runnable r = nul::run; result += \"made\"; } catch (NullPointerException e) { result += \"npe\"; } } }"));
    }

    @Test
    void texts_suspend() throws Exception {
        same(lines("public class P implements Runnable { static String result = \"\"; " + NAP, "public String toString() { nap(); return \"P\" + n++; } int n;",
            "static class Null { public String toString() { nap(); return null; } }",
            "public void run() { P none = null; Object o = this; long l = 5; char c = 'x'; double d = 1.5;",
            "result = \"a\" + this + l + o + none + c + d + new Null() + \"\\u0001\" + o; result += this; result += 'c'; String t = \"\" + o; result += t;",
            "result += new StringBuilder(\"s\").append(o).append(7).append((Object) null).append(this).append(new char[] {'q'}) + String.valueOf(o) + String.valueOf((Object) none);",
            "java.io.StringWriter w = new java.io.StringWriter(); java.io.PrintWriter p = new java.io.PrintWriter(w); p.print(o); p.println(this); p.println((Object) null); p.flush();",
            "result += w.toString().trim() + java.util.Objects.toString(this); } }"));
    }

    @Test
    void monitors_exclude_and_wait_and_notify() throws Exception {
        same(lines("import java.util.*; public class P implements Runnable { static String result = \"\"; " + NAP,
            "static int count; int own; static final Object LOCK = new int[1];",
            "static synchronized void inc() { int c = count; nap(); count = c + 1; } synchronized int add(int n) { int o = own; if (n == 0) return o; nap(); try { own = o + n; return add(n - 1); } finally { nap(); } }",
            "void block(int n) { synchronized (LOCK) { int o = own; synchronized (this) { nap(); own = o + n; if (n == 3) throw new IllegalStateException(); } } }",
            "static final LinkedList<Integer> queue = new LinkedList<>(); static int sum;",
            "public void run() { try { List<Thread> all = new ArrayList<>(); for (int i = 0; i < 8; i++) { int n = i; all.add(new Thread(() -> { for (int k = 0; k < 5; k++) inc(); try { block(n); } catch (IllegalStateException e) { inc(); } })); }",
            "all.add(new Thread() { public void run() { for (int i = 1; i <= 20; i++) { synchronized (queue) { while (queue.size() > 2) { try { queue.wait(); } catch (InterruptedException e) { return; } } queue.add(i); queue.notifyAll(); } } } });",
            "all.add(new Thread() { public void run() { for (int i = 1; i <= 20; i++) { synchronized (queue) { while (queue.isEmpty()) { try { queue.wait(); } catch (InterruptedException e) { return; } } sum += queue.remove() * i; queue.notifyAll(); } } } });",
            "for (Thread t : all) t.start(); for (Thread t : all) t.join(); result = count + \" \" + own + \" \" + sum + \" \" + add(4) + Thread.holdsLock(LOCK);",
            "synchronized (LOCK) { result += Thread.holdsLock(LOCK); } try { LOCK.notify(); } catch (IllegalMonitorStateException e) { result += \"not mine\"; } } catch (InterruptedException e) { result = \"interrupted\"; } } }"));
    }

    @Test
    void threads_and_their_locals() throws Exception {
        same(lines("import java.util.*; public class P implements Runnable { static String result = \"\"; " + NAP,
            "static final ThreadLocal<Integer> LOCAL = ThreadLocal.withInitial(() -> 7); static final InheritableThreadLocal<String> INH = new InheritableThreadLocal<>();",
            "static class Worker extends Thread { int v; Worker(String name) { super(name); } @Override public void run() { LOCAL.set(LOCAL.get() + getName().length()); nap(); v = LOCAL.get(); if (v == 9) throw new IllegalStateException(\"nine\"); } }",
            "public void run() { try { INH.set(\"inherited\"); Worker a = new Worker(\"abc\"); Worker b = new Worker(\"ab\"); StringBuilder sb = new StringBuilder();",
            "b.setUncaughtExceptionHandler((t, e) -> sb.append(t.getName()).append(e.getMessage())); a.start(); b.start(); a.join(); b.join(); String[] s = new String[1];",
            "Thread c = new Thread(() -> { nap(); s[0] = INH.get() + Thread.currentThread().isInterrupted(); }, \"c\"); c.start(); c.join();",
            "Thread d = new Thread(() -> { try { Thread.sleep(100000); } catch (InterruptedException e) { s[0] += \" woken \" + Thread.interrupted(); } }); d.start(); d.interrupt(); d.join();",
            "result = a.v + \" \" + b.v + sb + s[0] + LOCAL.get() + a.isAlive() + c.getState() + (Thread.currentThread() == Thread.currentThread()) + (a instanceof Thread) + Thread.class.isInstance(a);",
            "} catch (InterruptedException e) { result = \"interrupted\"; } } }"));
    }

    @Test
    void exceptions_through_lambdas_and_finally() throws Exception {
        same(lines("import java.util.*; import java.util.concurrent.*; public class P implements Runnable { static String result = \"\"; " + NAP,
            "static int deep(int n, Callable<Integer> c) throws Exception { try { nap(); return n == 0 ? c.call() : deep(n - 1, c) + 1; } catch (IllegalArgumentException e) { if (n == 2) { nap(); return 100; } throw e; } finally { nap(); result += n; } }",
            "static <T extends Comparable<T>> T max(List<? extends T> l) { T m = null; for (T t : l) { if (m == null || t.compareTo(m) > 0) m = t; } return m; }",
            "static class Slow implements Comparable<Slow> { final int v; Slow(int v) { this.v = v; } public int compareTo(Slow o) { nap(); return Integer.compare(v, o.v); } }",
            "public void run() { try { result += deep(3, () -> { nap(); return 5; }) + \" \"; result += deep(4, () -> { nap(); throw new IllegalArgumentException(); }) + \" \";",
            "try { deep(1, () -> { nap(); throw new IllegalStateException(\"out\"); }); } catch (IllegalStateException e) { result += e.getMessage(); }",
            "result += max(Arrays.asList(new Slow(1), new Slow(5), new Slow(2))).v; Iterator<Integer> it = new Iterator<Integer>() { int i; public boolean hasNext() { nap(); return i < 3; } public Integer next() { nap(); return i++; } };",
            "while (it.hasNext()) result += it.next(); } catch (Exception e) { result += e; } } }"));
    }

    @Test
    void constructors_that_suspend_everywhere() throws Exception {
        same(lines("import java.util.*; public class P implements Runnable { static String result = \"\"; " + NAP, "static int v(int n) { nap(); return n; }",
            "static class A { final int a; final List<String> l = new ArrayList<>(); A(int a) { nap(); this.a = a + v(1); l.add(\"A\" + v(a)); } A() { this(7); nap(); } }",
            "static class B extends A { final long b; B(int x) { super(x * 2); b = v(3); } B() { b = v(4); } }", "static class C extends B { C() { super(9); } int all() { return a + (int) b + l.size(); } }",
            "static Object pair(Object x, Object y) { return x + \":\" + y; }",
            "public void run() { B b = new B(v(2)); result = b.a + \" \" + b.b + \" \" + b.l + new B().a + new C().all() + pair(new StringBuilder(\"s\" + v(1)), new A(v(3) > 2 ? v(5) : v(6)).a)",
            "+ new int[][] {{v(1)}, {v(2), v(3)}}[1][v(1)] + new Object() { int q = v(8); int get() { return q + v(1); } }.get(); } }"));
    }

    @Test
    void newer_language_features() throws Exception {
        assumeTrue(NEWEST.equals("17"), "Java 17");
        same("17", lines("import java.util.*; public class P implements Runnable { static String result = \"\"; " + NAP,
            "record R(int a, String b) { R { nap(); if (a < 0) throw new IllegalArgumentException(\"neg\" + a); } int sum() { nap(); return a + b.length(); } }",
            "sealed interface S permits X, Y { int v(); private int p() { nap(); return v() + 1; } default int d() { return p() * 2; } static int s(int n) { nap(); return n; } }",
            "record X(int v) implements S {} enum Y implements S { ONE { public int v() { nap(); return 1; } }, TWO { public int v() { return S.s(2); } } }",
            "static String sw(Object o, String k) { int n = switch (k) { case \"a\" -> { nap(); yield 1; } case \"bb\" -> S.s(2); default -> 3; }; return o instanceof R r && r.sum() > 3 ? \"R\" + r + n : \"?\" + n; }",
            "public void run() { result = new R(2, \"xx\").sum() + sw(new R(3, \"yy\"), \"a\") + sw(\"\", \"bb\") + new X(4).d() + Y.ONE.d() + Y.TWO.d(); try { new R(-1, \"\"); } catch (IllegalArgumentException e) { result += e.getMessage(); }",
            "var text = \"\"\"\n t\n\"\"\"; result += text + new R(1, \"z\").equals(new R(S.s(1), \"z\")); } }"));
    }
}
