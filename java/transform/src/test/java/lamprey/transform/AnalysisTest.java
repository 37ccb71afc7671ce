package lamprey.transform;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class AnalysisTest {
    private static final String SLEEP = "try { Thread.sleep(1); } catch (InterruptedException e) { throw new RuntimeException(e); }";

    private static Program of(String... sources) {
        return new Program(sources).transform();
    }

    @Test
    void callers_of_a_primitive_suspend_and_others_do_not() {
        Program p = of("class A { static void leaf() { " + SLEEP + " } static void mid() { leaf(); } static int other(int x) { return x + 1; } }");
        assertTrue(p.suspends("A.leaf"));
        assertTrue(p.suspends("A.mid"));
        assertFalse(p.suspends("A.other"));
        assertEquals(2, p.result.sites);
    }

    @Test
    void an_interface_call_suspends_if_one_implementation_does() {
        Program p = of("interface I { void go(); default void twice() { go(); go(); } }", "class A implements I { public void go() { " + SLEEP + " } }",
            "class B implements I { public void go() {} void own() { go(); } }", "class C { void c(I i) { i.go(); } void b(B b) { b.go(); } }");
        assertTrue(p.suspends("C.c"));
        assertTrue(p.suspends("I.twice"));
        assertFalse(p.suspends("B.go"));
        assertFalse(p.suspends("C.b"), "no known subtype of B suspends");
    }

    @Test
    void an_inherited_method_suspends_by_an_interface_of_the_subclass() {
        Program p = of("interface I { void go(); }", "class Base { public void go() { " + SLEEP + " } }", "class Sub extends Base implements I {}",
            "class C { void c(I i) { i.go(); } void s(Sub s) { s.go(); } }");
        assertTrue(p.suspends("C.c"));
        assertTrue(p.suspends("C.s"));
    }

    @Test
    void an_override_of_a_class_of_the_jdk_makes_calls_by_that_class_sites() {
        Program p = of("class Slow extends java.io.InputStream { public int read() { " + SLEEP + " return 1; } }",
            "class C { int c(java.io.InputStream in) throws Exception { return in.read(); } int z(java.io.Reader in) throws Exception { return in.read(); } }");
        assertTrue(p.suspends("C.c"));
        assertFalse(p.suspends("C.z"));
    }

    @Test
    void a_generic_bridge_suspends_with_its_target() {
        Program p = of("interface F<T> { T get(T t); }", "class S implements F<String> { public String get(String s) { " + SLEEP + " return s; } }",
            "class C { Object c(F<String> f) { return f.get(\"\"); } }");
        assertTrue(p.suspends("C.c"));
        assertEquals(2, p.result.methods.stream().filter(m -> m.startsWith("S.get(")).count());
    }

    @Test
    void a_lambda_makes_calls_of_its_interface_sites() {
        Program p = of("class A { static int twice(java.util.function.IntSupplier s) { return s.getAsInt() * 2; }"
            + " static int a() { return twice(() -> { " + SLEEP + " return 3; }); } static int plain(java.util.Comparator<String> o) { return o.compare(\"\", \"\"); } }");
        assertTrue(p.suspends("A.twice"));
        assertTrue(p.suspends("A.lambda$a$0"));
        assertTrue(p.suspends("A.a"));
        assertFalse(p.suspends("A.plain"));
    }

    @Test
    void recursion_and_cycles_end() {
        Program p = of("class A { static void a(int n) { if (n > 0) b(n - 1); } static void b(int n) { if (n == 3) c(); a(n); } static void c() { " + SLEEP + " }"
            + " static void x() { y(); } static void y() { x(); } }");
        assertTrue(p.suspends("A.a"));
        assertTrue(p.suspends("A.b"));
        assertFalse(p.suspends("A.x"));
    }

    @Test
    void annotated_abstract_methods_count_without_an_implementation() {
        Program p = of("interface I { @lamprey.instrument.Suspendable void go(); void not(); }", "class C { void c(I i) { i.go(); } void d(I i) { i.not(); } }");
        assertTrue(p.suspends("C.c"));
        assertFalse(p.suspends("C.d"));
    }

    @Test
    void run_of_any_runnable_is_taken_to_suspend() {
        assertTrue(of("class C { void c(Runnable r) { r.run(); } }").suspends("C.c"));
    }

    @Test
    void functions_of_the_jdk_are_taken_to_suspend() {
        Program p = of("class C { boolean c(java.util.function.Predicate<String> p) { return p.test(\"\"); } Object u(java.util.function.UnaryOperator<String> u) { return u.apply(\"\"); } }");
        assertTrue(p.suspends("C.c"));
        assertTrue(p.suspends("C.u"));
    }

    @Test
    void public_interfaces_that_the_module_does_not_implement_are_taken_to_suspend() {
        Program p = of("class C { public interface Step { void go(); } public abstract static class Task { protected abstract void work(); void all() { work(); } }"
            + " interface Inner { void go(); } public interface Known { void go(); } static class Quiet implements Known { public void go() {} }"
            + " void step(Step s) { s.go(); } void inner(Inner i) { i.go(); } void known(Known k) { k.go(); } }");
        assertTrue(p.suspends("C.step"));
        assertTrue(p.suspends("C$Task.all"));
        assertFalse(p.suspends("C.inner"));
        assertFalse(p.suspends("C.known"));
    }

    @Test
    void everything_transforms_calls_of_methods_that_can_be_overridden() {
        Program p = new Program("class C { int len(CharSequence s) { return s.length(); } int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }"
            + " String s(StringBuilder b) { return b.append(1).toString(); } }");
        p.options.everything = true;
        p.transform();
        assertTrue(p.suspends("C.len"));
        assertTrue(p.suspends("C.fib"));
        assertFalse(p.suspends("C.s"), "StringBuilder is final");
    }

    @Test
    void a_transformed_class_is_left_as_it_is() {
        Program p = of("class A { static void leaf() { " + SLEEP + " } }");
        Program again = new Program("class X {}");
        again.compiled.clear();
        again.compiled.putAll(p.result.classes);
        again.transform();
        assertTrue(again.result.classes.isEmpty());
        assertEquals(1, again.result.skipped);
        Program other = new Program("class X {}");
        other.compiled.putAll(p.result.classes);
        other.options.mode = Mode.FLAGS;
        other.transform();
        assertTrue(other.result.refusals.get(0).reason.contains("mode=exceptions"));
    }

    @Test
    void excluded_classes_stay_but_are_known() {
        Program p = new Program("package x; public class A { public static void leaf() { " + SLEEP + " } public static void mark() {} }",
            "package y; class C { void c() { x.A.leaf(); } void d() { x.A.mark(); } }");
        p.options.excludes.add("x.**");
        p.transform();
        assertFalse(p.result.classes.containsKey("x/A"));
        assertFalse(p.suspends("y.C.c"), "an excluded class suspends only by its annotations");
    }
}
