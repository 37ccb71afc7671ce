package lamprey.transform;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import lamprey.transform.analysis.Assumptions;
import lamprey.transform.analysis.CallGraph;
import lamprey.transform.analysis.Certainty;
import lamprey.transform.method.ClassWeaver;
import lamprey.transform.rewrite.Concatenation;
import lamprey.transform.rewrite.Initialisers;
import lamprey.transform.rewrite.MainMethods;
import lamprey.transform.rewrite.Monitors;
import lamprey.transform.rewrite.References;
import lamprey.transform.rewrite.SerialVersion;
import lamprey.transform.rewrite.RewriteTable;
import lamprey.transform.rewrite.TableRewriter;
import lamprey.transform.types.TypeInfo;
import lamprey.transform.types.Types;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.AnnotationNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TryCatchBlockNode;

/**
 * Transforms the classes of a module together: replaces names, finds the methods that can suspend, and gives them to the weaver.
 *
 * <p>Order: names and monitors are replaced first, since the calls that suspend are those of the replacements; then the call graph is made; then method
 * references and concatenations that hide such calls become calls; then the call graph is made again, of the code as it will be.
 */
public final class Transformer {
    private final Options options;
    private final ClassSource source;
    private final RewriteTable table;
    /** Of the class path, those that may have methods that suspend. */
    private final List<TypeInfo> marked = new ArrayList<>();
    /** If only a part is seen: super classes of other parts, as they will be. */
    private final Map<String, Optional<TypeInfo>> supers = new ConcurrentHashMap<>();

    /**
     * With what the classes use.
     *
     * @throws IllegalArgumentException if names are to be replaced, and no table of names is on the class path or one cannot be read
     */
    public Transformer(Options options, ClassSource source) {
        this.options = options;
        this.source = source;
        List<String> texts = options.rewrite ? source.resources(Names.REWRITES) : new ArrayList<>();
        if (options.rewrite && texts.isEmpty()) {
            throw new IllegalArgumentException("no " + Names.REWRITES + " is on the class path: add lamprey-core, or set rewrite=false");
        }
        table = new RewriteTable(texts);
        source.marked().forEach(classFile -> marked.add(TypeInfo.of(classFile)));
    }

    /** Transforms class files, by internal name. Those that have been transformed before, and those the options exclude, are only read. */
    public Transformation transform(Map<String, byte[]> classFiles) {
        return new Run(classFiles).result;
    }

    /** One call of {@link #transform}. */
    private final class Run {
        final Transformation result = new Transformation();
        final Map<String, ClassNode> scope = new LinkedHashMap<>();
        /** Classes of the module that stay as they are, and those of other modules that have marks. */
        final List<TypeInfo> fixed = new ArrayList<>();
        CallGraph graph;
        /** Whether a class of the other mode has been reported: one is enough, as mostly all of a jar are. */
        boolean otherMode;

        Run(Map<String, byte[]> classFiles) {
            classFiles.forEach(this::read);
            if (options.partial) {
                scope.values().forEach(c -> superClass(c.superName, classFiles));
            }
            for (TypeInfo t : marked) {
                if (!classFiles.containsKey(t.name)) {
                    fixed.add(t);
                    checkMode(t);
                }
            }
            Types plain = types(false);
            scope.values().forEach(c -> SerialVersion.keep(c, plain));
            if (options.rewrite) {
                rewrite();
            }
            analyse();
            for (ClassNode c : scope.values()) {
                References.rewrite(c, graph);
                Concatenation.rewrite(c, graph);
            }
            Types types = analyse();
            result.refusals.addAll(new Certainty(types, graph, scope.values()).refusals());
            if (options.rewrite) {
                scope.values().forEach(c -> Initialisers.rewrite(c, graph));
            }
            scope.values().forEach(this::weave);
        }

        private void read(String name, byte[] classFile) {
            TypeInfo t = TypeInfo.of(classFile);
            boolean generated = Names.FRAME.equals(t.superName);
            if (generated || t.mode != null || !options.selects(name) || name.endsWith("module-info") || name.endsWith("package-info")) {
                result.skipped += t.mode != null && !generated ? 1 : 0;
                fixed.add(t);
                checkMode(t);
                return;
            }
            ClassNode node = new ClassNode();
            new ClassReader(classFile).accept(node, ClassReader.EXPAND_FRAMES);
            scope.put(node.name, node);
        }

        /** Whether {@code super(..)} can be a site depends on what the constructor that it calls becomes; so it is transformed as it will be, and only looked at. */
        private void superClass(String name, Map<String, byte[]> classFiles) {
            if (name == null || classFiles.containsKey(name) || !isOurs(name)) {
                return;
            }
            Optional<TypeInfo> known = supers.get(name);
            if (known == null) {
                byte[] classFile = source.find(name);
                Transformation t = classFile == null ? null : transform(Collections.singletonMap(name, classFile));
                boolean changes = t != null && t.refusals.isEmpty() && t.classes.containsKey(name);
                known = changes ? Optional.of(TypeInfo.of(t.classes.get(name))) : Optional.empty();
                supers.put(name, known);
            }
            known.ifPresent(fixed::add);
        }

        /** A program has one mode: the runtime is made for it. */
        private void checkMode(TypeInfo t) {
            if (t.mode == null || t.mode.equals(modeName()) || options.anyMode || otherMode) {
                return;
            }
            otherMode = true;
            boolean runtime = t.name.startsWith("lamprey/");
            result.refusals.add(new Refusal(t.name.replace('/', '.'), "", -1, "it has been transformed with mode=" + t.mode + ", not mode=" + modeName()
                + (runtime ? "; use the artifact " + (options.mode == Mode.FLAGS ? "with" : "without") + " the classifier flags" : "")));
        }

        private Types types(boolean rewritten) {
            Types types = new Types(source, t -> {
                t.inScope = t.mode == null && isOurs(t.name);
                return t.inScope && rewritten && options.rewrite ? table.rewritten(t) : t;
            });
            fixed.forEach(types::put);
            scope.values().forEach(c -> types.put(TypeInfo.of(c)));
            return types;
        }

        private Types analyse() {
            Types types = types(true);
            Predicate<String> everything = options.everything ? name -> scope.containsKey(name) || isOurs(name) : null;
            graph = new CallGraph(types, scope.values(), everything, new Assumptions(options.assume));
            return types;
        }

        /** Whether a class that is not at hand will be transformed. */
        private boolean isOurs(String name) {
            return options.partial && options.selects(name) && !name.startsWith(Names.PACKAGE) && !Types.isJdk(name);
        }

        private void rewrite() {
            TableRewriter rewriter = new TableRewriter(table, types(false), result.refusals);
            for (ClassNode c : scope.values()) {
                ClassNode rewritten = rewriter.rewrite(c);
                Monitors.rewrite(rewritten, result.refusals);
                scope.put(c.name, rewritten);
            }
            for (ClassNode c : MainMethods.rewrite(scope.values())) {
                scope.put(c.name, c);
            }
        }

        private void weave(ClassNode c) {
            int methods = 0;
            Map<MethodNode, Boolean> suspending = new java.util.IdentityHashMap<>();
            for (MethodNode m : c.methods) {
                boolean suspends = graph.suspends(c, m);
                suspending.put(m, suspends);
                if (suspends) {
                    methods++;
                    count(c, m);
                }
                if (suspends || graph.leadsToSuspending(c, m)) {
                    annotate(m);
                }
            }
            annotate(c);
            boolean old = (c.version & 0xffff) < Opcodes.V1_6;
            if (methods > 0 && old) {
                result.refusals.add(new Refusal(c.name.replace('/', '.'), "", -1, "its class file has version " + (c.version & 0xffff)
                    + ", of Java 5 or before, without the types that the transformation needs; use a newer version of the library, compile it for Java 6 or later, or"
                    + " exclude the class, and call what waits in it by lamprey.Blocking.call"));
                return;
            }
            result.suspendingClasses += methods > 0 ? 1 : 0;
            // With everything, each constructor counts as one that suspends: super(..) of another class calls the copy that the weaver makes.
            if (methods > 0 || !old && (options.everything || catchesAll(c))) {
                HugeMethods huge = new HugeMethods(c);
                Woven woven = ClassWeaver.weave(c, new ClassCalls(c, graph, suspending), options.mode);
                result.classes.put(c.name, woven.classFile);
                result.classes.putAll(woven.frames);
                result.refusals.addAll(woven.refusals);
                huge.report(c, result.warnings);
            } else {
                ClassWriter w = new ClassWriter(ClassWriter.COMPUTE_MAXS);
                c.accept(w);
                result.classes.put(c.name, w.toByteArray());
            }
        }

        private void count(ClassNode c, MethodNode m) {
            result.methods.add(c.name.replace('/', '.') + "." + m.name + m.desc);
            for (AbstractInsnNode i = m.instructions.getFirst(); i != null; i = i.getNext()) {
                result.sites += i instanceof MethodInsnNode && graph.suspends(c, (MethodInsnNode) i) ? 1 : 0;
            }
        }

        private void annotate(MethodNode m) {
            if (m.visibleAnnotations == null) {
                m.visibleAnnotations = new ArrayList<>();
            }
            if (m.visibleAnnotations.stream().noneMatch(a -> a.desc.equals(Names.SUSPENDABLE))) {
                m.visibleAnnotations.add(new AnnotationNode(Names.SUSPENDABLE));
            }
        }

        private void annotate(ClassNode c) {
            AnnotationNode a = new AnnotationNode(Names.TRANSFORMED);
            a.visit("value", modeName());
            if (c.visibleAnnotations == null) {
                c.visibleAnnotations = new ArrayList<>();
            }
            c.visibleAnnotations.add(a);
        }

        private String modeName() {
            return options.mode.name().toLowerCase(Locale.ROOT);
        }
    }

    /** Whether it has a handler that could catch a suspension on its way, which the weaver guards. */
    private static boolean catchesAll(ClassNode c) {
        for (MethodNode m : c.methods) {
            for (TryCatchBlockNode b : m.tryCatchBlocks) {
                if (b.type == null || b.type.equals("java/lang/Throwable") || b.type.equals("java/lang/Error")) {
                    return true;
                }
            }
        }
        return false;
    }
}
