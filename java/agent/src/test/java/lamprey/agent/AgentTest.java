package lamprey.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Each test starts a JVM with the agent. */
@Timeout(240)
class AgentTest {
    private static final String PROGRAM = String.join("\n", "package app; import java.util.*;",
        "public class Main extends Thread { static int sum; final int n; Main(int n) { this.n = n; }",
        "static synchronized void add(int n) { sum += n; }",
        "@Override public void run() { try { Thread.sleep(Helper.millis()); } catch (InterruptedException e) { return; } add(Helper.of(this)); }",
        "public static void main(String[] args) throws Exception { List<Thread> all = new ArrayList<>();",
        "for (int i = 0; i < 2000; i++) { all.add(new Main(i)); }",
        "all.add(new Thread(Helper::nap)); for (Thread t : all) t.start(); for (Thread t : all) t.join();",
        "System.out.println(sum + \" \" + Thread.currentThread().getClass().getName()); } }");
    private static final String HELPER = "package app; class Helper { static long millis() { return 20; } static int of(Thread t) { return ((Main) t).n; }"
        + " static void nap() { try { Thread.sleep(3); } catch (InterruptedException e) { throw new RuntimeException(e); } } }";
    private static final String REFUSED = "package app; class Bad { static { try { Thread.sleep(1); } catch (InterruptedException e) {"
        + " throw new RuntimeException(e); } } public static void main(String[] a) { System.out.println(\"ran anyway\"); } }";
    private static final String ANNOTATED = "package other; class Notes { @lamprey.instrument.Suspendable static int twice(int n) throws Exception {"
        + " Thread.sleep(1); return 2 * n; } public static void main(String[] a) throws Exception { int n = twice(4);"
        + " System.out.println(n + Thread.currentThread().getClass().getName()); } }";

    private static final String DERIVED = "package sub; public class Derived extends Base { int y; Derived() { y = x + 1; } Derived(int n) { super(n); y = x; }"
        + " int get() throws Exception { return super.get() + y; } public static void main(String[] a) throws Exception {"
        + " System.out.println(new Derived().get() + \" \" + new Derived(40).get() + \" \" + new Plain(3).n); } }"
        + " class Base extends Root { int x; Base() { Root.nap(); x = 7; } Base(int n) { x = n; } int get() throws Exception { Thread.sleep(1); return 100 * x; } }"
        + " class Root { Root() { nap(); } static void nap() { try { Thread.sleep(1); } catch (InterruptedException e) { throw new RuntimeException(e); } } }"
        + " class Quiet { int n; Quiet(int n) { this.n = n; } } class Plain extends Quiet { Plain(int n) { super(n + 1); Root.nap(); } }";
    /** Defines a class three times; at first its super class is not found. */
    private static final String AGAIN = "package again; public class Again extends ClassLoader { boolean found; Again() { super(Again.class.getClassLoader()); }"
        + " @Override protected Class<?> loadClass(String n, boolean r) throws ClassNotFoundException {"
        + " if (n.endsWith(\"Base\") && !found) throw new ClassNotFoundException(n); return super.loadClass(n, r); }"
        + " Class<?> define() throws Exception { byte[] b = new byte[100000]; int n = 0; try (java.io.InputStream in = getResourceAsStream(\"again/Again$Sub.class\")) {"
        + " for (int k = in.read(b); k > 0; k = in.read(b, n, b.length - n)) n += k; } return defineClass(\"again.Again$Sub\", b, 0, n); }"
        + " public static class Base {} public static class Sub extends Base implements Runnable { public void run() {"
        + " try { Thread.sleep(5); } catch (InterruptedException e) { return; } System.out.println(\"slept \" + Thread.currentThread().getClass().getName()); } }"
        + " public static void main(String[] a) throws Exception { Again l = new Again(); try { l.define(); } catch (NoClassDefFoundError e) { System.out.println(\"no super class\"); }"
        + " l.found = true; Runnable r = (Runnable) l.define().getDeclaredConstructor().newInstance(); try { l.define(); } catch (LinkageError e) { System.out.println(\"defined already\"); }"
        + " Thread t = new Thread(r); t.start(); t.join(); } }";
    private static final String PROXY = "package hid; class Proxied { interface Hidden { int n(); } public static void main(String[] a) {"
        + " Hidden h = (Hidden) java.lang.reflect.Proxy.newProxyInstance(Proxied.class.getClassLoader(), new Class<?>[] {Hidden.class}, (p, m, x) -> 7);"
        + " System.out.println(h.n() + h.getClass().getName()); } }";
    /** Loads classes by a loader that finds only what it defines, and one of the JDK that is not in a package of the JDK. */
    private static final String BLIND = "package see; public class Blind extends ClassLoader { Blind() { super(null); }"
        + " @Override protected Class<?> findClass(String name) throws ClassNotFoundException { byte[] b = new byte[100000]; int n = 0;"
        + " try (java.io.InputStream in = Blind.class.getClassLoader().getResourceAsStream(name.replace('.', '/') + \".class\")) {"
        + " for (int k = in.read(b); k > 0; k = in.read(b, n, b.length - n)) n += k; } catch (java.io.IOException e) { throw new ClassNotFoundException(name); }"
        + " return defineClass(name, b, 0, n); }"
        + " public static void main(String[] a) throws Exception { Blind l = new Blind(); for (String c : new String[] {\"unseen.Alone\", \"unseen.Alone$Other\"})"
        + " ((Runnable) l.loadClass(c).getDeclaredConstructor().newInstance()).run(); java.security.Security.getProvider(\"XMLDSig\").getName(); } }";
    private static final String ALONE = "package unseen; public class Alone implements Runnable { public void run() { try { Thread.sleep(1); } catch (InterruptedException e) { return; }"
        + " System.out.println(\"alone \" + Thread.currentThread().getClass().getName()); } public static class Other extends Alone { } }";

    @TempDir
    static Path folder;
    private static Path agent;

    @BeforeAll
    static void compile() throws IOException {
        List<String> args = new ArrayList<>(Arrays.asList("-nowarn", "-Xlint:-options", "-source", "8", "-target", "8", "-cp", System.getProperty("java.class.path"), "-d",
            Files.createDirectories(folder.resolve("classes")).toString()));
        for (String source : Arrays.asList(PROGRAM, HELPER, REFUSED, ANNOTATED, DERIVED, AGAIN, PROXY, BLIND, ALONE)) {
            String name = source.replaceFirst("(?s).*?class (\\w+).*", "$1");
            args.add(Files.write(folder.resolve(name + ".java"), source.getBytes(StandardCharsets.UTF_8)).toString());
        }
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, System.err, args.toArray(new String[0])));
        agent = folder.resolve("agent.jar");
        Manifest m = new Manifest();
        m.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        m.getMainAttributes().putValue("Premain-Class", Agent.class.getName());
        new JarOutputStream(Files.newOutputStream(agent), m).close();
    }

    private static String run(int code, String options, String main) throws Exception {
        return run(code, options, main, System.getProperty("java.class.path"));
    }

    private static String run(int code, String options, String main, String classPath) throws Exception {
        Path out = Files.createTempFile(folder, "out", ".txt");
        Process p = new ProcessBuilder(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java", "-Xmx256m", "-Xverify:all",
            "-javaagent:" + agent + (options.isEmpty() ? "" : "=" + options), "-cp",
            folder.resolve("classes") + File.pathSeparator + classPath, main)
            .redirectErrorStream(true).redirectOutput(out.toFile()).start();
        if (!p.waitFor(200, TimeUnit.SECONDS)) {
            p.destroyForcibly().waitFor();
        }
        String text = new String(Files.readAllBytes(out), StandardCharsets.UTF_8);
        assertEquals(code, p.exitValue(), text);
        return text;
    }

    @Test
    void threads_of_a_program_are_light() throws Exception {
        String out = run(0, "packages=app", "app.Main");
        assertTrue(out.contains("1999000 lamprey.PicoThread"), out);
    }

    @Test
    void verbose_names_the_classes() throws Exception {
        String out = run(0, "packages=app;verbose=true", "app.Main");
        assertTrue(out.contains("lamprey-agent: app.Helper: 1 classes"), out);
    }

    @Test
    void without_packages_only_annotated_classes_are_transformed() throws Exception {
        assertTrue(run(0, "", "app.Main").contains("1999000 java.lang.Thread"));
        String out = run(0, "", "other.Notes");
        assertTrue(out.contains("8lamprey.PicoThread"), out);
    }

    @Test
    void a_refused_class_is_named_and_runs_as_it_is() throws Exception {
        String out = run(0, "packages=app", "app.Bad");
        assertTrue(out.contains("app.Bad stays as it is") && out.contains("app.Bad.<clinit>:1") && out.contains("ran anyway"), out);
    }

    @Test
    void constructors_of_super_classes_suspend() throws Exception {
        String out = run(0, "packages=sub", "sub.Derived");
        assertTrue(out.contains("708 4040 4"), out);
    }

    @Test
    void excluded_classes_stay() throws Exception {
        assertTrue(run(0, "packages=app,other;exclude=other.Notes", "other.Notes").contains("8java.lang.Thread"));
    }

    @Test
    void packages_that_are_missing_or_not_found_are_reported() throws Exception {
        assertTrue(run(0, "packages=", "app.Main").contains("no packages= are given"));
        String out = run(0, "packages=ap", "app.Main");
        assertTrue(out.contains("no class of [ap, ap.**] has been loaded"), out);
        assertTrue(!run(0, "packages=app", "app.Main").contains("lamprey-agent:"));
    }

    @Test
    void bad_options_end_the_jvm_with_a_message() throws Exception {
        assertTrue(run(1, "package=app", "app.Main").contains("the option package is unknown; known are packages="));
        assertTrue(run(1, "mode=quick", "app.Main").contains("the mode is quick"));
        assertTrue(run(1, "rewrite=maybe", "app.Main").contains("rewrite is maybe, not true or false"));
    }

    @Test
    void a_class_that_is_defined_again_is_transformed_in_silence() throws Exception {
        String out = run(0, "packages=again", "again.Again");
        assertEquals(Arrays.asList("no super class", "defined already", "slept lamprey.PicoThread"), Arrays.asList(out.split("\\R")), out);
    }

    @Test
    void proxies_stay_as_the_jdk_makes_them() throws Exception {
        String out = run(0, "packages=hid;verbose=true", "hid.Proxied");
        assertTrue(out.contains("7hid.$Proxy") && !out.contains("warning") && !out.contains("lamprey-agent: hid.$Proxy") && out.contains("lamprey-agent: hid.Proxied:"), out);
    }

    @Test
    void loaders_that_do_not_find_the_runtime_are_left_alone() throws Exception {
        String alone = "alone lamprey.Carrier";
        String out = run(0, "packages=**;exclude=org.junit", "see.Blind");
        assertEquals(Arrays.asList(alone, alone), Arrays.asList(out.split("\\R")), out);
        out = run(0, "packages=unseen", "see.Blind");
        assertEquals(3, out.split("\\R").length, out);
        assertTrue(out.contains("lamprey-agent: unseen.Alone and other classes of the loader see.Blind"), out);
    }

    @Test
    void a_program_without_the_runtime_is_told_so_once() throws Exception {
        StringBuilder without = new StringBuilder();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            without.append(entry.replace(File.separatorChar, '/').matches(".*(core/target|lamprey-core).*") ? "" : entry + File.pathSeparator);
        }
        for (String packages : new String[] {"app", "**"}) {
            String out = run(0, "packages=" + packages, "app.Main", without.toString());
            assertTrue(out.contains("1999000 java.lang.Thread") && out.contains("do not find lamprey-core: add it to the class path"), out);
            assertEquals(2, out.split("\\R").length, out);
        }
    }
}
