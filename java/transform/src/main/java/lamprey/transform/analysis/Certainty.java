package lamprey.transform.analysis;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import lamprey.transform.Names;
import lamprey.transform.Refusal;
import lamprey.transform.types.TypeInfo;
import lamprey.transform.types.Types;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Refuses calls that certainly suspend, where no frame can be saved: in static initialisers, before {@code super(..)}, and while a monitor of the JVM is
 * held. A call that only may suspend (a lock that may be free, one implementation of many) is not refused: if it does suspend, the thread
 * gets a {@code PinnedError} that says where.
 *
 * <p>A call is certain if the method is known without looking at the receiver, and is a primitive that always waits, or a method of the
 * module that cannot return without such a call.
 */
public final class Certainty {
    private final Types types;
    private final CallGraph graph;
    private final Set<String> certain = new HashSet<>();
    private final List<Refusal> refusals = new ArrayList<>();

    /** For these classes. */
    public Certainty(Types types, CallGraph graph, Collection<ClassNode> scope) {
        this.types = types;
        this.graph = graph;
        for (TypeInfo t : new ArrayList<>(types.known())) {
            if (t != null) {
                roots(t);
            }
        }
        while (grows(scope)) {
            continue;
        }
        for (ClassNode c : scope) {
            for (MethodNode m : c.methods) {
                check(c, m);
            }
        }
    }

    /** What has to be refused. */
    public List<Refusal> refusals() {
        return refusals;
    }

    private void roots(TypeInfo t) {
        for (String key : t.primitives) {
            // A lock is mostly free.
            if (!t.name.equals(Names.MONITORS) || key.startsWith("wait")) {
                certain.add(t.name + "." + key);
            }
        }
        for (String key : t.suspendables) {
            if (t.name.equals(Names.THREAD) && (key.startsWith("sleep(") || key.startsWith("join("))
                || t.name.equals(Names.MONITORS) && key.startsWith("wait")) {
                certain.add(t.name + "." + key);
            }
        }
    }

    private boolean grows(Collection<ClassNode> scope) {
        boolean grown = false;
        for (ClassNode c : scope) {
            for (MethodNode m : c.methods) {
                String name = c.name + "." + m.name + m.desc;
                if (!certain.contains(name) && graph.suspends(c, m) && hasCertain(m) && Flow.mustPass(m, this::isCertain)) {
                    grown = certain.add(name);
                }
            }
        }
        return grown;
    }

    private boolean hasCertain(MethodNode m) {
        for (AbstractInsnNode i = m.instructions.getFirst(); i != null; i = i.getNext()) {
            if (isCertain(i)) {
                return true;
            }
        }
        return false;
    }

    private boolean isCertain(AbstractInsnNode insn) {
        if (!(insn instanceof MethodInsnNode)) {
            return false;
        }
        MethodInsnNode call = (MethodInsnNode) insn;
        TypeInfo t = types.resolve(call.owner, call.name + call.desc);
        return t != null && certain.contains(t.name + "." + call.name + call.desc)
            && (!t.isInterface() || call.getOpcode() == Opcodes.INVOKESTATIC);
    }

    private void check(ClassNode c, MethodNode m) {
        if ((m.access & Opcodes.ACC_NATIVE) != 0 && types.get(c.name).suspendables.contains(m.name + m.desc)) {
            refuse(c, m, null, "a native method cannot suspend; remove @Suspendable");
        }
        MethodInsnNode constructor = Code.constructorCall(c.name, c.superName, m);
        boolean initialised = constructor == null;
        for (AbstractInsnNode i = m.instructions.getFirst(); i != null; i = i.getNext()) {
            initialised |= i == constructor;
            if (isCertain(i) && (m.name.equals("<clinit>") || graph.isNoSite(i))) {
                MethodInsnNode call = (MethodInsnNode) i;
                String what = call.owner.replace('/', '.') + "." + call.name + " suspends the thread, which is not possible ";
                refuse(c, m, i, what + (m.name.equals("<clinit>") ? "in a static initialiser; call it from a method"
                    : initialised ? "while a monitor of the JVM is held; use a lock of lamprey.concurrent, or transform with rewrite=true"
                    : "before super(..) or this(..); compute the argument in a static factory method"));
            }
        }
    }

    private void refuse(ClassNode c, MethodNode m, AbstractInsnNode at, String reason) {
        refusals.add(new Refusal(c.name.replace('/', '.'), m.name, at == null ? -1 : Code.line(at), reason));
    }
}
