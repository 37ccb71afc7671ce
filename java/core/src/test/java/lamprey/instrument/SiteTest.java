package lamprey.instrument;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/** Which method a call selects. A wrong yes would lose the frame of the method that was really called. */
class SiteTest {
    static class Base {
        public void m() {}

        void packaged() {}

        private void own() {}

        static void hidden() {}
    }

    static class Middle extends Base {
        @Override
        public void m() {
            super.m();
        }

        private void own() {}

        static void hidden() {}
    }

    static class Leaf extends Middle {}

    interface I {
        default void d() {}
    }

    interface J extends I {
        @Override
        default void d() {
            I.super.d();
        }
    }

    static class ByI implements I {}

    static class ByJ implements J {}

    static class Both extends ByI implements J {}

    static class Overrides extends ByI {
        @Override
        public void d() {}
    }

    private static Site site(char kind, Class<?> owner, String name) {
        return Site.parse(kind + " " + owner.getName().replace('.', '/') + " " + name + " ()V 1");
    }

    private static MethodInfo of(Class<?> type, String name) {
        return MethodInfo.transformed(type, name, "()V", "SiteTest.java", 1, "", "");
    }

    @Test
    void virtual_call_of_an_inherited_method() {
        assertTrue(site('v', Middle.class, "m").leadsTo(of(Middle.class, "m"), new Leaf()));
        assertTrue(site('v', Base.class, "m").leadsTo(of(Base.class, "m"), new Base()));
    }

    @Test
    void override_that_called_super() {
        assertFalse(site('v', Base.class, "m").leadsTo(of(Base.class, "m"), new Leaf()));
    }

    @Test
    void super_call_through_an_override_between() {
        assertFalse(site('x', Middle.class, "m").leadsTo(of(Base.class, "m"), new Leaf()));
        assertTrue(site('x', Middle.class, "m").leadsTo(of(Middle.class, "m"), new Leaf()));
        assertTrue(site('x', Leaf.class, "m").leadsTo(of(Middle.class, "m"), new Leaf()));
    }

    @Test
    void static_method_that_hides_another() {
        assertFalse(site('s', Leaf.class, "hidden").leadsTo(of(Base.class, "hidden"), null));
        assertTrue(site('s', Leaf.class, "hidden").leadsTo(of(Middle.class, "hidden"), null));
        assertTrue(site('s', Base.class, "hidden").leadsTo(of(Base.class, "hidden"), null));
    }

    @Test
    void private_method_is_not_overridden() {
        assertTrue(site('v', Base.class, "own").leadsTo(of(Base.class, "own"), new Leaf()));
        assertFalse(site('v', Base.class, "own").leadsTo(of(Middle.class, "own"), new Leaf()));
        assertTrue(site('x', Base.class, "own").leadsTo(of(Base.class, "own"), new Leaf()));
    }

    @Test
    void default_method() {
        assertTrue(site('i', I.class, "d").leadsTo(of(I.class, "d"), new ByI()));
        assertTrue(site('v', ByI.class, "d").leadsTo(of(I.class, "d"), new ByI()));
        assertTrue(site('i', I.class, "d").leadsTo(of(J.class, "d"), new ByJ()));
        assertTrue(site('x', I.class, "d").leadsTo(of(I.class, "d"), new ByJ()));
    }

    @Test
    void more_specific_default_method_that_called_the_other() {
        assertFalse(site('i', I.class, "d").leadsTo(of(I.class, "d"), new ByJ()));
        assertFalse(site('i', I.class, "d").leadsTo(of(I.class, "d"), new Both()));
        assertTrue(site('i', I.class, "d").leadsTo(of(J.class, "d"), new Both()));
        assertFalse(site('x', J.class, "d").leadsTo(of(I.class, "d"), new ByJ()));
        assertFalse(site('i', I.class, "d").leadsTo(of(I.class, "d"), new Overrides()));
    }

    @Test
    void other_method_or_no_receiver() {
        assertFalse(site('v', Base.class, "m").leadsTo(of(Base.class, "packaged"), new Base()));
        assertFalse(site('v', Base.class, "m").leadsTo(of(Base.class, "m"), null));
        assertFalse(site('v', Base.class, "m").leadsTo(null, new Base()));
        assertTrue(site('v', Base.class, "packaged").leadsTo(of(Base.class, "packaged"), new Leaf()));
    }

    @Test
    void constructor() {
        assertTrue(site('x', Middle.class, "<init>").leadsTo(of(Middle.class, "<init>"), null));
        assertFalse(site('x', Middle.class, "<init>").leadsTo(of(Base.class, "<init>"), null));
    }

    @Test
    void lambda_only_by_its_alias() {
        Callable<String> lambda = () -> "x";
        MethodInfo body = MethodInfo.transformed(SiteTest.class, "lambda$0", "()Ljava/lang/String;", "SiteTest.java", 1, "",
            "call()Ljava/lang/Object;");
        Site call = Site.parse("i java/util/concurrent/Callable call ()Ljava/lang/Object; 1");
        assertTrue(call.leadsTo(body, lambda));
        assertFalse(call.leadsTo(body, new Callable<String>() {
            @Override
            public String call() {
                return "not by a lambda";
            }
        }));
        assertFalse(Site.parse("i java/lang/Runnable run ()V 1").leadsTo(body, lambda));
    }

    /** A type that is missing where {@link #loader} loads the others. */
    static class Missing {}

    public static class Optional {
        public void m() {}

        Missing other(Missing m) {
            return m;
        }
    }

    public static class OptionalSub extends Optional {
        void another(Missing m) {}
    }

    public static class OptionalOverride extends OptionalSub {
        @Override
        public void m() {
            super.m();
        }

        void third(Missing m) {}
    }

    private static ClassLoader loader() {
        return new ClassLoader(SiteTest.class.getClassLoader()) {
            @Override
            protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                if (name.contains("$Missing")) {
                    throw new ClassNotFoundException(name);
                }
                if (!name.contains("SiteTest$Optional")) {
                    return super.loadClass(name, resolve);
                }
                Class<?> loaded = findLoadedClass(name);
                if (loaded != null) {
                    return loaded;
                }
                try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                    byte[] file = new byte[1 << 16];
                    int n = 0;
                    for (int b = in.read(); b >= 0; b = in.read()) {
                        file[n++] = (byte) b;
                    }
                    return defineClass(name, file, 0, n);
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        };
    }

    @Test
    void methods_cannot_be_listed_as_a_type_is_missing() throws Exception {
        ClassLoader loader = loader();
        Class<?> base = loader.loadClass(Optional.class.getName());
        Class<?> sub = loader.loadClass(OptionalSub.class.getName());
        Class<?> override = loader.loadClass(OptionalOverride.class.getName());
        assertThrows(NoClassDefFoundError.class, base::getDeclaredMethods);
        Site call = site('v', base, "m");
        assertTrue(call.leadsTo(of(base, "m"), base.getConstructor().newInstance()));
        assertTrue(call.leadsTo(of(base, "m"), sub.getConstructor().newInstance()));
        assertTrue(call.leadsTo(of(override, "m"), override.getConstructor().newInstance()));
        assertFalse(call.leadsTo(of(base, "m"), override.getConstructor().newInstance()));
    }

    @Test
    void more_receivers_than_answers_are_kept() {
        Site call = Site.parse("i java/util/concurrent/Callable call ()Ljava/lang/Object; 1");
        MethodInfo[] bodies = new MethodInfo[40];
        Object[] receivers = new Object[40];
        for (int i = 0; i < bodies.length; i++) {
            // One class for all, but a method for each: the answer is kept for the pair.
            bodies[i] = MethodInfo.transformed(SiteTest.class, "lambda$" + i, "()Ljava/lang/String;", "SiteTest.java", i, "", "call()Ljava/lang/Object;");
            receivers[i] = (Callable<String>) () -> "x";
        }
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < bodies.length; i++) {
                assertTrue(call.leadsTo(bodies[i], receivers[i]));
                assertFalse(call.leadsTo(bodies[i], "another class"));
            }
        }
    }

    @Test
    void answer_is_kept_for_each_receiver() {
        Site call = site('i', I.class, "d");
        for (int i = 0; i < 3; i++) {
            assertTrue(call.leadsTo(of(I.class, "d"), new ByI()));
            assertFalse(call.leadsTo(of(I.class, "d"), new Both()));
        }
    }
}
