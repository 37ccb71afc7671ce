package lamprey.transform.analysis;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import lamprey.transform.types.TypeInfo;
import lamprey.transform.types.Types;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Which methods can suspend, and which calls: class hierarchy analysis. Roots are annotated methods and assumptions; a method that has a call
 * that can suspend can suspend.
 *
 * <p>Invariant: {@link #methods} has the declared methods that can suspend; {@link #owners} has, for each key (name and descriptor), the types by which
 * a virtual call can lead to one of them: all supertypes of each known class for whose objects the JVM selects it, and for lambdas their
 * interface. A call is looked at again when its key gains an owner or a method.
 */
public final class CallGraph {
    private static final int OWN = Opcodes.ACC_STATIC | Opcodes.ACC_PRIVATE;

    private final Types types;
    /** If everything is to be transformed, the classes of which that is said; else null. */
    private final Predicate<String> everything;
    private final Assumptions assumptions;
    private final Set<String> methods = new HashSet<>();
    private final Map<String, Set<String>> owners = new HashMap<>();
    private final Set<String> scope = new HashSet<>();
    private final Map<String, List<TypeInfo>> subtypes = new HashMap<>();
    private final Map<String, List<Caller>> callers = new HashMap<>();
    private final Map<String, List<Lambda>> lambdas = new HashMap<>();
    private final Deque<String> changed = new ArrayDeque<>();
    /** Calls where no frame can be saved: they are no sites, and a suspension there is refused when it happens. */
    private final Set<AbstractInsnNode> noSites = Collections.newSetFromMap(new IdentityHashMap<>());

    private static final class Caller {
        final ClassNode type;
        final MethodNode method;
        final List<MethodInsnNode> calls = new ArrayList<>();

        Caller(ClassNode type, MethodNode method) {
            this.type = type;
            this.method = method;
        }
    }

    /**
     * Analyses these classes; {@code types} knows them.
     *
     * @param everything null, or the classes whose methods are all taken to suspend; then those that could be overridden are, too
     */
    public CallGraph(Types types, Collection<ClassNode> scope, Predicate<String> everything, Assumptions assumptions) {
        this.types = types;
        this.everything = everything;
        this.assumptions = assumptions;
        List<TypeInfo> known = new ArrayList<>();
        for (TypeInfo t : new ArrayList<>(types.known())) {
            if (t != null) {
                known.add(t);
            }
        }
        for (TypeInfo t : known) {
            for (String s : types.supertypes(t.name)) {
                subtypes.computeIfAbsent(s, k -> new ArrayList<>()).add(t);
            }
        }
        scope.forEach(c -> this.scope.add(c.name));
        for (ClassNode c : scope) {
            for (MethodNode m : c.methods) {
                collect(c, m);
            }
        }
        assumptions.keys(types, this::isImplemented).forEach(this::assume);
        for (TypeInfo t : known) {
            t.primitives.forEach(key -> mark(t, key));
            t.suspendables.forEach(key -> mark(t, key));
        }
        start(scope);
        propagate();
    }

    private boolean isImplemented(String type) {
        for (TypeInfo t : subtypes.getOrDefault(type, Collections.emptyList())) {
            if ((t.access & Opcodes.ACC_ABSTRACT) == 0) {
                return true;
            }
        }
        return false;
    }

    private void collect(ClassNode c, MethodNode m) {
        noSites.addAll(NoSites.of(c, m, types, scope));
        Caller caller = new Caller(c, m);
        boolean canSuspend = canBeTransformed(c, m);
        for (AbstractInsnNode i = m.instructions.getFirst(); i != null; i = i.getNext()) {
            if (i instanceof MethodInsnNode && canSuspend && !noSites.contains(i)) {
                MethodInsnNode call = (MethodInsnNode) i;
                caller.calls.add(call);
                List<Caller> list = callers.computeIfAbsent(call.name + call.desc, k -> new ArrayList<>());
                if (list.isEmpty() || list.get(list.size() - 1) != caller) {
                    list.add(caller);
                }
            } else if (i instanceof InvokeDynamicInsnNode) {
                Lambda lambda = Lambda.of((InvokeDynamicInsnNode) i);
                if (lambda != null) {
                    lambdas.computeIfAbsent(lambda.body.getName() + lambda.body.getDesc(), k -> new ArrayList<>()).add(lambda);
                }
            }
        }
    }

    private boolean canBeTransformed(ClassNode c, MethodNode m) {
        TypeInfo t = types.get(c.name);
        return (m.access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE)) == 0 && !m.name.equals("<clinit>")
            && !t.primitives.contains(m.name + m.desc);
    }

    /** The methods that suspend without regard to their keys: all of them if everything is to be transformed, or those with calls that are assumed to. */
    private void start(Collection<ClassNode> scope) {
        Set<Caller> all = Collections.newSetFromMap(new IdentityHashMap<>());
        callers.values().forEach(all::addAll);
        for (Caller c : all) {
            if (hasSite(c)) {
                mark(types.get(c.type.name), c.method.name + c.method.desc);
            }
        }
        if (everything != null) {
            for (ClassNode c : scope) {
                for (MethodNode m : c.methods) {
                    // A constructor without sites has no form that super(..) of a subclass could call as one.
                    if (canBeTransformed(c, m) && !m.name.equals("<init>")) {
                        mark(types.get(c.name), m.name + m.desc);
                    }
                }
            }
        }
    }

    private boolean hasSite(Caller c) {
        for (MethodInsnNode call : c.calls) {
            if (suspends(call) || assumptions.covers(c.type.name, call)) {
                return true;
            }
        }
        return false;
    }

    private void propagate() {
        while (!changed.isEmpty()) {
            String key = changed.remove();
            for (Caller c : callers.getOrDefault(key, Collections.emptyList())) {
                TypeInfo t = types.get(c.type.name);
                if (!methods.contains(t.name + "." + c.method.name + c.method.desc) && hasSite(c)) {
                    mark(t, c.method.name + c.method.desc);
                }
            }
            for (Lambda l : lambdas.getOrDefault(key, Collections.emptyList())) {
                if (suspends(l.body)) {
                    l.descs.forEach(d -> assume(l.type, l.name + d));
                }
            }
        }
    }

    private void mark(TypeInfo t, String key) {
        if (!methods.add(t.name + "." + key)) {
            return;
        }
        changed.add(key);
        if (t.is(key, OWN) || key.startsWith("<init>")) {
            return;
        }
        Set<String> by = owners.computeIfAbsent(key, k -> new HashSet<>());
        by.addAll(types.supertypes(t.name));
        for (TypeInfo s : subtypes.getOrDefault(t.name, Collections.emptyList())) {
            if (types.resolve(s.name, key) == t) {
                by.addAll(types.supertypes(s.name));
            }
        }
    }

    private void assume(String type, String key) {
        if (owners.computeIfAbsent(key, k -> new HashSet<>()).addAll(types.supertypes(type))) {
            changed.add(key);
        }
    }

    /** Whether a call can suspend. */
    public boolean suspends(MethodInsnNode call) {
        boolean virtual = call.getOpcode() == Opcodes.INVOKEVIRTUAL || call.getOpcode() == Opcodes.INVOKEINTERFACE;
        return !noSites.contains(call) && suspends(virtual, call.owner, call.name + call.desc);
    }

    /** Whether a call in this class can suspend, with what is assumed of its calls. */
    public boolean suspends(ClassNode caller, MethodInsnNode call) {
        return suspends(call) || !noSites.contains(call) && assumptions.covers(caller.name, call);
    }

    /** Whether a method that is called by a handle can suspend. */
    public boolean suspends(Handle h) {
        boolean virtual = h.getTag() == Opcodes.H_INVOKEVIRTUAL || h.getTag() == Opcodes.H_INVOKEINTERFACE;
        return suspends(virtual, h.getOwner(), h.getName() + h.getDesc());
    }

    /** Whether the method could call an object that it gets, or has. Those of the JDK's final classes, with plain arguments, cannot. */
    public boolean canCallBack(Handle h) {
        boolean plain = h.getTag() != Opcodes.H_INVOKEVIRTUAL && h.getTag() != Opcodes.H_INVOKEINTERFACE || isPlain(Type.getObjectType(h.getOwner()));
        for (Type t : Type.getArgumentTypes(h.getDesc())) {
            plain &= isPlain(t);
        }
        return !plain || !Types.isJdk(h.getOwner());
    }

    private boolean isPlain(Type t) {
        if (t.getSort() != Type.OBJECT) {
            return t.getSort() != Type.ARRAY || t.getElementType().getSort() != Type.OBJECT;
        }
        TypeInfo type = t.getInternalName().startsWith("java/lang/") ? types.get(t.getInternalName()) : null;
        return type != null && (type.access & Opcodes.ACC_FINAL) != 0;
    }

    /** Whether {@code toString()} of a value of this type can suspend. */
    public boolean textSuspends(String type) {
        return suspends(true, type, "toString()Ljava/lang/String;");
    }

    private boolean suspends(boolean virtual, String owner, String key) {
        if (virtual) {
            Set<String> by = owners.get(key);
            if (by != null && by.contains(owner.startsWith("[") ? "java/lang/Object" : owner)) {
                return true;
            }
        }
        TypeInfo declares = types.resolve(owner, key);
        if (declares != null && (methods.contains(declares.name + "." + key) || declares.isMarked(key))) {
            return true;
        }
        if (everything == null || key.startsWith("<init>") && declares != null && scope.contains(declares.name)) {
            return false;
        }
        return everything.test(owner) || declares != null && (everything.test(declares.name) || virtual && isOpen(owner, declares, key));
    }

    /** Whether a class that is not known could override the method. */
    private boolean isOpen(String owner, TypeInfo declares, String key) {
        TypeInfo named = types.get(owner);
        return !declares.is(key, OWN | Opcodes.ACC_FINAL) && (declares.access & Opcodes.ACC_FINAL) == 0
            && (named == null || (named.access & Opcodes.ACC_FINAL) == 0);
    }

    /** Whether a method of the module is to be transformed: it can be, and has a call that can suspend. */
    public boolean suspends(ClassNode type, MethodNode method) {
        if (!canBeTransformed(type, method) || !methods.contains(type.name + "." + method.name + method.desc)) {
            return false;
        }
        for (AbstractInsnNode i = method.instructions.getFirst(); i != null; i = i.getNext()) {
            if (i instanceof MethodInsnNode && suspends(type, (MethodInsnNode) i)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a call of this abstract method can lead to one that suspends. */
    public boolean leadsToSuspending(ClassNode type, MethodNode method) {
        Set<String> by = owners.get(method.name + method.desc);
        return (method.access & Opcodes.ACC_ABSTRACT) != 0 && by != null && by.contains(type.name);
    }

    /** Whether no frame can be saved at this call. */
    boolean isNoSite(AbstractInsnNode call) {
        return noSites.contains(call);
    }
}
