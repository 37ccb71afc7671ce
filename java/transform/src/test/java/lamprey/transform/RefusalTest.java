package lamprey.transform;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class RefusalTest {
    private static List<Refusal> refusals(String... sources) {
        return new Program(sources).transform().result.refusals;
    }

    private static void refused(List<Refusal> all, String type, String method, int line, String reason) {
        assertEquals(1, all.size(), all.toString());
        Refusal r = all.get(0);
        assertEquals(type, r.type);
        assertEquals(method, r.method);
        assertEquals(line, r.line);
        assertTrue(r.reason.contains(reason), r.reason);
    }

    @Test
    void a_static_initialiser_that_sleeps() {
        refused(refusals("class A { static int x;\n static {\n try { Thread.sleep(1); } catch (InterruptedException e) { x = 1; } } }"),
            "A", "<clinit>", 3, "static initialiser");
    }

    @Test
    void a_static_initialiser_that_calls_a_method_that_always_sleeps() {
        refused(refusals("class A { static int x = B.get(); }", "class B { static int get() { int n = 1;\n try { Thread.sleep(n); n++; }"
            + " catch (InterruptedException e) { throw new RuntimeException(e); } return n; } }"), "A", "<clinit>", 1, "B.get suspends");
    }

    @Test
    void an_argument_of_super_that_sleeps() {
        refused(refusals("class A { A(int i) {} }", "class B extends A { static int f() { try { Thread.sleep(1); } catch (InterruptedException e) {"
            + " throw new RuntimeException(e); } return 1; }\n B() { super(\n new Object().hashCode() + f()); } }"), "B", "<init>", 3, "super(..)");
    }

    @Test
    void possible_suspensions_are_not_refused() {
        assertEquals(0, refusals("interface I { int go(); }", "class S implements I { public int go() { synchronized (this) { return 1; } } }",
            "class A { static I i = new S(); static int x = i.go(); static int y = B.maybe(0);"
                + " A(int n) {} }", "class B extends A { B(I i) { super(i.go() + maybe(1)); } static int maybe(int n) { if (n > 5) {"
                + " try { Thread.sleep(1); } catch (InterruptedException e) { return 0; } } return n; } }").size());
    }

    @Test
    void a_monitor_of_the_jvm_is_held() {
        Program p = new Program("class A { void a(Object o) throws Exception { synchronized (o) {\n lamprey.PicoThread.sleep(1); } }\n"
            + " synchronized void b() throws Exception {\n lamprey.PicoThread.sleep(2); } void c(Object o) throws Exception { synchronized (o) { o.hashCode(); }"
            + " lamprey.PicoThread.sleep(3); } }");
        p.options.rewrite = false;
        p.transform();
        assertEquals(2, p.result.refusals.size(), p.result.refusals.toString());
        assertEquals(2, p.result.refusals.get(0).line);
        assertEquals(4, p.result.refusals.get(1).line);
        assertTrue(p.suspends("A.c"));
    }

    @Test
    void a_method_of_the_jdk_that_takes_a_thread() {
        refused(refusals("class A { Object a(Thread t) {\n return java.util.concurrent.locks.LockSupport.getBlocker(t); } }"), "A", "a", 2,
            "java.lang.Thread, which is replaced by lamprey.PicoThread");
    }

    @Test
    void a_method_of_thread_that_its_replacement_has_not() {
        refused(refusals("class A { long a(Thread t) {\n return t.getId(); } }"), "A", "a", 2, "not in lamprey.PicoThread");
    }

    @Test
    void a_reference_to_a_method_of_thread_that_its_replacement_has_not() {
        refused(refusals("class A { java.util.function.ToLongFunction<Thread> a() {\n return Thread::getId; } }"), "A", "a", 2, "not in lamprey.PicoThread");
    }

    @Test
    void an_override_with_a_thread_of_a_class_of_the_jdk() {
        refused(refusals("class A extends java.util.concurrent.ForkJoinPool implements java.util.concurrent.ThreadFactory {"
            + "\n public Thread newThread(Runnable r) { return null; } }"), "A", "newThread", 2, "overrides a method of java.util.concurrent.ThreadFactory");
    }

    @Test
    void a_class_of_the_jdk_that_is_a_thread_is_extended() {
        refused(refusals("class A extends java.util.concurrent.ForkJoinWorkerThread { A(java.util.concurrent.ForkJoinPool p) { super(p); } }"),
            "A", "", -1, "extend that");
    }

    @Test
    void a_synchronized_native_method() {
        refused(refusals("class A { synchronized native void a(); }"), "A", "a", -1, "native");
    }

    @Test
    void a_main_method_of_java_5_is_refused_once() {
        Program p = new Program("class Old { public static void main(String[] a) throws Exception { Thread.sleep(1); } }");
        p.compiled.replaceAll((name, file) -> {
            file[7] = 49;
            return file;
        });
        refused(p.transform().result.refusals, "Old", "", -1, "version 49");
    }

    @Test
    void a_thread_group_says_what_to_use_instead() {
        refused(refusals("class A extends ThreadGroup { A() { super(null); }\n public void uncaughtException(Thread t, Throwable e) { } }"), "A", "", -1,
            "setUncaughtExceptionHandler");
    }

    /** A method with this many calls that suspend. */
    private static String calls(int n) {
        StringBuilder s = new StringBuilder("class A { static void a() throws Exception {\n");
        for (int i = 0; i < n; i++) {
            s.append("Thread.sleep(").append(i).append(");\n");
        }
        return s.append("} }").toString();
    }

    @Test
    void a_method_that_gets_too_large_is_refused_with_advice() {
        refused(refusals(calls(9000)), "A", "a", -1, "split the method, or exclude");
    }

    @Test
    void a_method_that_hotspot_will_not_compile_any_more_is_a_warning() {
        Program p = new Program(calls(800)).transform();
        assertEquals(0, p.result.refusals.size(), p.result.refusals.toString());
        assertEquals(1, p.result.warnings.size(), p.result.warnings.toString());
        assertTrue(p.result.warnings.get(0).toString().startsWith("A.a: ") && p.result.warnings.get(0).reason.contains("DontCompileHugeMethods"),
            p.result.warnings.toString());
        assertEquals(0, new Program(calls(20)).transform().result.warnings.size());
    }
}
