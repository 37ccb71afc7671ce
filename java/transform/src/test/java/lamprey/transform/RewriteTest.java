package lamprey.transform;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import org.junit.jupiter.api.Test;

class RewriteTest {
    private static final String SLEEP = "try { Thread.sleep(1); } catch (InterruptedException e) { throw new RuntimeException(e); }";

    private ClassLoader loader;

    private Object run(String... sources) throws Exception {
        loader = new Program(sources).transform().load();
        return Program.call(loader, "A", "a");
    }

    private Object field(String type, String name) throws Exception {
        return Program.field(loader, type, name);
    }

    @Test
    void a_subclass_of_thread_becomes_a_light_thread() throws Exception {
        assertEquals("ran pico", run("public class A extends Thread { static String s; public void run() { s = \"ran \" + getName(); }"
            + " static String a() { Thread t = new A(); t.start(); return s; } }"));
        assertEquals(1, field("lamprey.PicoThread", "started"));
    }

    @Test
    void threads_in_arrays_casts_class_constants_and_generics() throws Exception {
        assertEquals("[Llamprey.PicoThread; lamprey.PicoThread true", run("public class A { static <T extends Thread> T id(T t) { return t; }"
            + " static String a() { Object o = new Thread[2]; Object t = id(new Thread(() -> {})); return o.getClass().getName() + ' ' + Thread.class.getName()"
            + " + ' ' + (t instanceof Thread && ((Thread[]) o).length == 2); } }"));
    }

    @Test
    void new_and_super_are_replaced_and_types_stay() throws Exception {
        assertEquals(3, run("public class A extends java.util.ArrayList<Object> { A() { super(5); } public boolean add(Object o) { return super.add(o); }"
            + " static int a() { java.util.ArrayList<Object> l = new java.util.ArrayList<>(cond() ? 1 : 2); l.add(new A().add(1));"
            + " java.util.function.Supplier<java.util.ArrayList<Object>> s = java.util.ArrayList::new; s.get(); return 3; } static boolean cond() { return true; } }"));
        assertEquals(3, field("lamprey.List2", "made"));
    }

    @Test
    void a_constructor_becomes_a_static_call() throws Exception {
        String type = "java.net.InetSocketAddress";
        assertEquals("h:2 g:8 1", run("public class A { static String n(boolean b) { return b ? \"h\" : \"g\"; } static String a() {"
            + " " + type + " x = new " + type + "(n(true), n(true).equals(\"h\") ? 1 : 2), y = new " + type + "(n(false), 7);"
            + " new " + type + "(\"x\", 1); java.util.function.BiFunction<String, Integer, " + type + "> f = " + type + "::new;"
            + " return x.getHostString() + ':' + x.getPort() + ' ' + y.getHostString() + ':' + y.getPort() + ' ' + (f.apply(\"z\", 0).getPort()); } }"));
    }

    @Test
    void calls_of_final_methods_of_object_by_any_class() throws Exception {
        run("public class A { static void a() throws Exception { A x = new A(); int[] y = {1}; Runnable r = () -> {}; x.notifyAll(); y.notifyAll(); r.notifyAll(); x.wait(); } }");
        assertEquals(3100, field("lamprey.instrument.Monitors", "entered"));
    }

    @Test
    void a_call_with_a_thread_goes_to_its_replacement() throws Exception {
        run("public class A { static void a() { Runtime.getRuntime().addShutdownHook(new Thread(() -> {})); } }");
        assertEquals(1, field("lamprey.Hooks", "hooks"));
    }

    @Test
    void synchronized_blocks_and_methods() throws Exception {
        assertEquals("6 7.5 caught 9", run("public class A { static int n; synchronized int one(int x, long y) { for (int i = 0; i < 3; i++) { x = x + 1; long z = y;"
            + " if (z > x) return x; } return x; } static synchronized double two(double d) { if (d > 1) { return d; } return -d; }"
            + " synchronized void three(Object o) { try { synchronized (o) { o.toString(); throw new IllegalStateException(); } } finally { n++; } }"
            + " synchronized Object loop(int k) { while (true) { synchronized (A.class) { if (k-- < 0) return k; } } }"
            + " static String a() { A x = new A(); String s = x.one(3, 2) + \" \" + two(7.5); x.loop(3); try { x.three(x); } catch (IllegalStateException e) { s += \" caught\"; }"
            + " return s + \" \" + (n + 8); } }"));
        assertEquals(0, field("lamprey.instrument.Monitors", "held"));
        assertEquals(10, field("lamprey.instrument.Monitors", "entered"));
    }

    @Test
    void a_synchronized_method_may_overwrite_its_parameters() throws Exception {
        assertEquals("3", run("public class A { synchronized Object f(Object o, int i, long l) { o = 1; while (i-- > 0) { o = Integer.valueOf(((Integer) o) + 1); l++; } return o; }"
            + " static String a() { return \"\" + new A().f(null, 2, 5); } }"));
        assertEquals(0, field("lamprey.instrument.Monitors", "held"));
    }

    @Test
    void main_runs_by_the_runtime_and_is_called_directly_by_others() throws Exception {
        loader = new Program("public class A { static String s = \"\"; public static void main(String[] x) throws Exception { s += x.length; Thread.sleep(1); }"
            + " static void a() throws Exception { main(new String[2]); } }").transform().load();
        loader.loadClass("A").getMethod("main", String[].class).invoke(null, (Object) new String[7]);
        assertEquals(1, field("lamprey.instrument.Main", "runs"));
        Program.call(loader, "A", "a");
        assertEquals(1, field("lamprey.instrument.Main", "runs"));
        java.lang.reflect.Field s = loader.loadClass("A").getDeclaredField("s");
        s.setAccessible(true);
        assertEquals("72", s.get(null));
    }

    @Test
    void main_called_by_a_light_thread_just_runs() throws Exception {
        Program p = new Program("public class A { static int n; public static void main(String[] x) throws Exception { Thread.sleep(1); n = x.length; } }").transform();
        assertTrue(p.suspends("A.main"), p.result.methods.toString());
        loader = p.load();
        loader.loadClass("lamprey.instrument.Main").getField("running").set(null, true);
        loader.loadClass("A").getMethod("main", String[].class).invoke(null, (Object) new String[3]);
        assertEquals(0, field("lamprey.instrument.Main", "runs"));
        java.lang.reflect.Field n = loader.loadClass("A").getDeclaredField("n");
        n.setAccessible(true);
        assertEquals(3, n.get(null));
    }

    @Test
    void static_initialisers_that_may_wait_are_surrounded_however_they_end() throws Exception {
        assertEquals("6 true", run("public class A { static class Quiet { static int v = new int[5].length; } static class Waits { static int v; static { if (A.x) { v = get(); } else { v = 9; } } }"
            + " static class Fails { static int v; static { try { v = get(); } finally { v = 7; } if (v == 7) throw new IllegalStateException(); } }"
            + " static boolean x = true; static synchronized int get() { return 1; }"
            + " static String a() { int n = Quiet.v + Waits.v; boolean failed = false; try { n += Fails.v; } catch (ExceptionInInitializerError e) {"
            + " failed = e.getCause() instanceof IllegalStateException; } return n + \" \" + failed; } }"));
        assertEquals(2, field("lamprey.instrument.Initialiser", "begun"));
        assertEquals(2, field("lamprey.instrument.Initialiser", "ended"));
    }

    @Test
    void references_become_bodies_with_all_conversions() throws Exception {
        Program p = new Program("import java.util.function.*; public class A { final int k; A() { this(1); } A(int k) { " + SLEEP + " this.k = k; }"
            + " static int one(long x) { " + SLEEP + " return (int) x + 1; } int inst(Integer o) { " + SLEEP + " return o + k; } Integer boxed() { " + SLEEP + " return k; }"
            + " private void priv(String s) { " + SLEEP + " log += s; } static long prim(int i) { " + SLEEP + " return i; } static String log = \"\";"
            + " static int[] arr(Object[] o) { " + SLEEP + " return new int[o.length]; }"
            + " static String a() { IntFunction<Object> f = A::one; Function<Integer, Number> g = new A(5)::inst; ToLongFunction<A> h = A::boxed;"
            + " Supplier<A> s = A::new; IntFunction<A> s1 = A::new; Consumer<String> c = new A()::priv; IntToDoubleFunction d = A::prim; Consumer<Integer> v = A::one2;"
            + " BiFunction<A, Integer, Object> u = A::inst; Function<String[], Object> z = A::arr; c.accept(\"p\"); v.accept(1);"
            + " return f.apply(1) + \" \" + g.apply(2) + \" \" + h.applyAsLong(new A(8)) + \" \" + s.get().k + s1.apply(4).k + log + d.applyAsDouble(3) + u.apply(new A(1), 1)"
            + " + ((int[]) z.apply(new String[3])).length; } static Object one2(int i) { " + SLEEP + " log += i; return i; } }");
        p.transform();
        assertTrue(p.suspends("A.lambda$pico$0"));
        loader = p.load();
        assertEquals("2 7 8 14p13.023", Program.call(loader, "A", "a"));
    }

    @Test
    void a_bound_reference_of_null_fails_where_it_is_made() throws Exception {
        assertEquals("npe", run("public class A { void m() { " + SLEEP + " } static String a() { A x = null; try { Runnable r = x::m; return \"made\"; }"
            + " catch (NullPointerException e) { return \"npe\"; } } }"));
    }

    @Test
    void a_serialised_reference_finds_its_body() throws Exception {
        run("public class A implements java.io.Serializable { interface S extends java.util.function.IntSupplier, java.io.Serializable {} int k = 4; static Object it;"
            + " int get() { " + SLEEP + " return k; } static void a() { S s = new A()::get; it = s; } }");
        java.lang.reflect.Field it = loader.loadClass("A").getDeclaredField("it");
        it.setAccessible(true);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new ObjectOutputStream(bytes).writeObject(it.get(null));
        ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())) {
            @Override
            protected Class<?> resolveClass(ObjectStreamClass c) throws ClassNotFoundException {
                return Class.forName(c.getName(), false, loader);
            }
        };
        assertEquals(4, ((java.util.function.IntSupplier) in.readObject()).getAsInt());
    }

    @Test
    void texts_of_objects_that_suspend_are_made_before() throws Exception {
        assertEquals("x1A!2.0null A,A A null", run("public class A { public String toString() { " + SLEEP + " return \"A\"; } static String a() { A n = null; Object o = new A();"
            + " return \"x\" + 1 + o + '!' + 2.0 + n + \" \" + new StringBuilder().append(o).append(',').append((Object) new A()) + \" \" + String.valueOf(o) + ' '"
            + " + String.valueOf((Object) n); } }"));
        assertTrue((Integer) field("lamprey.instrument.Concat", "calls") >= 6);
    }

    @Test
    void texts_that_do_not_suspend_stay() throws Exception {
        run("public class A { public String toString() { return \"A\"; } static String a() { return \"x\" + new A(); } }");
        assertEquals(0, field("lamprey.instrument.Concat", "calls"));
    }

    @Test
    void super_of_a_constructor_without_calls_when_everything_is_transformed() throws Exception {
        Program p = new Program("public class A { A() {} static String a() { return new B(\"xyz\").toString(); } }",
            "class B extends A { final int n; B(CharSequence s) { super(); n = s.length(); } public String toString() { return \"B\" + n; } }");
        p.options.everything = true;
        p.transform();
        assertTrue(p.suspends("B.<init>"));
        assertEquals("B3", Program.call(p.load(), "A", "a"));
    }
}
