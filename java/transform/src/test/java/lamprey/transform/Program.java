package lamprey.transform;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.tools.DiagnosticCollector;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** A program in source form, compiled in memory together with a small runtime, transformed, and loaded. */
final class Program {
    /** What the runtime of these tests is: the names that generated code uses; nothing suspends in it. */
    static final String[] RUNTIME = {
        "package lamprey.instrument; import java.lang.annotation.*; @Retention(RetentionPolicy.RUNTIME) public @interface Primitive {}",
        "package lamprey.instrument; import java.lang.annotation.*; @Retention(RetentionPolicy.RUNTIME) public @interface Suspendable {}",
        "package lamprey.instrument; import java.lang.annotation.*; @Retention(RetentionPolicy.RUNTIME) public @interface Transformed { String value(); }",
        "package lamprey.instrument; public abstract class Frame implements java.io.Serializable { public int site;"
            + " public abstract MethodInfo method(); public abstract void resume(Resume r) throws Throwable; }",
        "package lamprey.instrument; public class MethodInfo { public static MethodInfo transformed(Class<?> type, String name, String desc, String file,"
            + " long hash, String sites, String aliases) { return new MethodInfo(); } }",
        "package lamprey.instrument; public class Resume { public Object ref; public long prim; public double real; public Throwable error; }",
        "package lamprey.instrument; public class Suspend extends Error { public Throwable capture(Frame f, MethodInfo m, Object o) { return this; }"
            + " public static Throwable escaped(Throwable t, String where) { return t; } }",
        "package lamprey.instrument; public class Execution { public static Suspend unwinding() { return null; } }",
        "package lamprey.instrument; public class Concat { public static int calls; public static String text(Object o) { calls++; return String.valueOf(o); } }",
        "package lamprey.instrument; public class Monitors { public static int held; public static int entered;"
            + " @Primitive public static void enter(Object o) { o.getClass(); held++; entered++; } public static void exit(Object o) { held--; }"
            + " @Primitive public static void wait(Object o) { entered += 100; } public static void notifyAll(Object o) { entered += 1000; } }",
        "package lamprey.instrument; public class Initialiser { public static int begun; public static int ended; public static void begin() { begun++; }"
            + " public static void end() { ended++; } }",
        "package lamprey.instrument; public class Main { public static int runs; public static boolean running; public static boolean isRunning() { return running; } public static void run(Runnable r) { runs++; r.run(); } }",
        "package lamprey; public class PicoThread implements Runnable { private Runnable r; public static int started; public PicoThread() {}"
            + " public PicoThread(Runnable r) { this.r = r; } public void start() { started++; run(); } public void run() { if (r != null) r.run(); }"
            + " @lamprey.instrument.Primitive public static void sleep(long ms) throws InterruptedException {}"
            + " public static PicoThread currentThread() { return new PicoThread(); } public final String getName() { return \"pico\"; } }",
        "package lamprey; public class Hooks { public static int hooks; public static void add(Runtime r, PicoThread t) { hooks++; } }",
        "package lamprey; public class List2 extends java.util.ArrayList<Object> { public static int made; public List2() { made++; } public List2(int n) { this(); } }",
        "package lamprey; public class Addresses { public static java.net.InetSocketAddress of(String host, int port) {"
            + " return java.net.InetSocketAddress.createUnresolved(host, port + 1); } }",
    };

    static final String REWRITES = "# a comment\n"
        + "type java/lang/Thread lamprey/PicoThread\n"
        + "new java/util/ArrayList lamprey/List2  # another\n"
        + "call java/lang/Object.wait()V lamprey/instrument/Monitors.wait(Ljava/lang/Object;)V\n"
        + "call java/lang/Object.notifyAll()V lamprey/instrument/Monitors.notifyAll(Ljava/lang/Object;)V\n"
        + "call java/lang/Runtime.addShutdownHook(Ljava/lang/Thread;)V lamprey/Hooks.add(Ljava/lang/Runtime;Llamprey/PicoThread;)V\n"
        + "call java/net/InetSocketAddress.<init>(Ljava/lang/String;I)V lamprey/Addresses.of(Ljava/lang/String;I)Ljava/net/InetSocketAddress;\n";

    private static final Map<String, byte[]> COMPILED_RUNTIME = compile(Arrays.asList(RUNTIME), Collections.emptyMap());

    final Options options = new Options();
    final Map<String, byte[]> compiled;
    Transformation result;

    Program(String... sources) {
        compiled = compile(Arrays.asList(sources), COMPILED_RUNTIME);
    }

    Program transform() {
        result = new Transformer(options, source()).transform(compiled);
        return this;
    }

    static ClassSource source() {
        return new ClassSource() {
            @Override
            public byte[] find(String internalName) {
                return COMPILED_RUNTIME.get(internalName);
            }

            @Override
            public List<byte[]> marked() {
                return new ArrayList<>(COMPILED_RUNTIME.values());
            }

            @Override
            public List<String> resources(String path) {
                return Collections.singletonList(REWRITES);
            }
        };
    }

    /** Whether a method was transformed. */
    boolean suspends(String method) {
        return result.methods.stream().anyMatch(m -> m.startsWith(method + "("));
    }

    ClassLoader load() {
        if (!result.refusals.isEmpty()) {
            throw new AssertionError(result.refusals.toString());
        }
        Map<String, byte[]> all = new HashMap<>(COMPILED_RUNTIME);
        all.putAll(compiled);
        all.putAll(result.classes);
        return new ClassLoader(Program.class.getClassLoader()) {
            @Override
            protected Class<?> findClass(String name) throws ClassNotFoundException {
                byte[] b = all.get(name.replace('.', '/'));
                if (b == null) {
                    throw new ClassNotFoundException(name);
                }
                return defineClass(name, b, 0, b.length);
            }
        };
    }

    /** Calls a static method without arguments. */
    static Object call(ClassLoader loader, String type, String method) throws Exception {
        java.lang.reflect.Method m = loader.loadClass(type).getDeclaredMethod(method);
        m.setAccessible(true);
        return m.invoke(null);
    }

    static Object field(ClassLoader loader, String type, String name) throws Exception {
        return loader.loadClass(type).getField(name).get(null);
    }

    static Map<String, byte[]> compile(List<String> sources, Map<String, byte[]> with) {
        JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
        Map<String, ByteArrayOutputStream> out = new LinkedHashMap<>();
        JavaFileManager files = new ForwardingJavaFileManager<JavaFileManager>(javac.getStandardFileManager(problems, null, null)) {
            @Override
            public JavaFileObject getJavaFileForOutput(Location l, String name, JavaFileObject.Kind kind, FileObject sibling) {
                return new SimpleJavaFileObject(URI.create("mem:///" + name.replace('.', '/') + ".class"), kind) {
                    @Override
                    public OutputStream openOutputStream() {
                        return out.computeIfAbsent(name.replace('.', '/'), k -> new ByteArrayOutputStream());
                    }
                };
            }

            @Override
            public Iterable<JavaFileObject> list(Location l, String pack, java.util.Set<JavaFileObject.Kind> kinds, boolean recurse)
                throws java.io.IOException {
                List<JavaFileObject> found = new ArrayList<>();
                super.list(l, pack, kinds, recurse).forEach(found::add);
                with.forEach((name, bytes) -> {
                    if (l == javax.tools.StandardLocation.CLASS_PATH && name.lastIndexOf('/') == pack.length()
                        && name.startsWith(pack.replace('.', '/') + "/")) {
                        found.add(new Compiled(name, bytes));
                    }
                });
                return found;
            }

            @Override
            public String inferBinaryName(Location l, JavaFileObject file) {
                return file instanceof Compiled ? ((Compiled) file).name.replace('/', '.') : super.inferBinaryName(l, file);
            }
        };
        List<JavaFileObject> units = new ArrayList<>();
        for (String source : sources) {
            String name = source.replaceFirst("(?s).*?\\b(class|interface|enum|@interface)\\s+(\\w+).*", "$2");
            units.add(new SimpleJavaFileObject(URI.create("mem:///" + name + ".java"), JavaFileObject.Kind.SOURCE) {
                @Override
                public CharSequence getCharContent(boolean ignore) {
                    return source;
                }
            });
        }
        List<String> options = Arrays.asList("-source", "8", "-target", "8", "-g", "-proc:none");
        if (!javac.getTask(null, files, problems, options, null, units).call()) {
            throw new AssertionError(problems.getDiagnostics().toString());
        }
        Map<String, byte[]> result = new LinkedHashMap<>();
        out.forEach((name, bytes) -> result.put(name, bytes.toByteArray()));
        return result;
    }

    private static final class Compiled extends SimpleJavaFileObject {
        final String name;
        final byte[] bytes;

        Compiled(String name, byte[] bytes) {
            super(URI.create("mem:///" + name + ".class"), Kind.CLASS);
            this.name = name;
            this.bytes = bytes;
        }

        @Override
        public java.io.InputStream openInputStream() {
            return new java.io.ByteArrayInputStream(bytes);
        }
    }
}
