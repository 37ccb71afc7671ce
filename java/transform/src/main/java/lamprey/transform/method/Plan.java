package lamprey.transform.method;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lamprey.transform.Mode;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.VarInsnNode;

/** What is known of a method before its code is written: control flow, sites, live locals. */
final class Plan implements Opcodes {
    final String owner;
    final boolean isInterface;
    final MethodNode method;
    final Mode mode;
    /** For messages of {@code Suspend.escaped}. */
    final String where;
    final Flow flow;
    final List<CallSite> sites = new ArrayList<>();
    private final Map<AbstractInsnNode, CallSite> byCall = new HashMap<>();
    private final Map<AbstractInsnNode, CallSite> moved = new HashMap<>();
    /** Null if there are no sites. */
    Liveness live;
    /** The first variable that the method does not use. */
    final int firstTemp;
    /** The first variable behind the temporaries of all sites. */
    int endOfTemps;
    /** Set if there are sites. */
    FrameClass frame;

    Plan(ClassNode type, MethodNode method, Mode mode, Set<AbstractInsnNode> suspending) throws Unsupported {
        owner = type.name;
        isInterface = (type.access & ACC_INTERFACE) != 0;
        this.method = method;
        this.mode = mode;
        where = type.name.replace('/', '.') + "." + method.name + " (" + (type.sourceFile == null ? "?" : type.sourceFile) + ")";
        // A twin needs two variables of its own that are parameters at first.
        firstTemp = Math.max(2, method.maxLocals);
        endOfTemps = firstTemp;
        flow = new Flow(method);
        if (!suspending.isEmpty()) {
            findSites(suspending);
        }
        if (!sites.isEmpty()) {
            findLive();
        }
    }

    boolean isConstructor() {
        return method.name.equals("<init>");
    }

    CallSite site(AbstractInsnNode insn) {
        return byCall.get(insn);
    }

    /** Of a {@link MovedInit} that is not a site: the operands before it. */
    CallSite moved(AbstractInsnNode insn) {
        return moved.get(insn);
    }

    private void findSites(Set<AbstractInsnNode> suspending) throws Unsupported {
        boolean[] reachable = flow.reachable(java.util.Collections.singletonList(0));
        int[] lines = lines();
        Unsupported[] failure = new Unsupported[1];
        flow.types(owner, (i, state) -> {
            AbstractInsnNode insn = flow.code[i];
            boolean isSite = suspending.contains(insn) && reachable[i];
            if (!isSite && !(insn instanceof MovedInit)) {
                return;
            }
            CallSite site = new CallSite(i, sites.size(), lines[i], (MethodInsnNode) insn, state.copy(), flow, firstTemp);
            endOfTemps = Math.max(endOfTemps, site.endOfTemps);
            if (!isSite) {
                moved.put(insn, site);
                return;
            }
            if (UNINITIALIZED_THIS.equals(state.local(0)) && !site.initialisesThis()) {
                if (!site.isVirtual() && failure[0] == null) {
                    failure[0] = new Unsupported(insn, "the arguments of super(..) or this(..) call " + site.name()
                        + ", which suspends; compute them before, for example in a static factory method");
                }
                return; // may suspend, but need not: if it does, that is an error at run time
            }
            sites.add(site);
            byCall.put(insn, site);
        });
        if (failure[0] != null) {
            throw failure[0];
        }
    }

    private int[] lines() {
        int[] lines = new int[flow.code.length];
        int line = -1;
        for (int i = 0; i < lines.length; i++) {
            line = flow.code[i] instanceof LineNumberNode ? ((LineNumberNode) flow.code[i]).line : line;
            lines[i] = line;
        }
        return lines;
    }

    private void findLive() throws Unsupported {
        Map<AbstractInsnNode, BitSet> uses = new HashMap<>();
        for (CallSite site : sites) {
            uses.put(site.call, site.uses());
        }
        for (AbstractInsnNode insn : flow.code) {
            if (!isConstructor()) {
                continue;
            }
            if (insn instanceof VarInsnNode && insn.getOpcode() >= ISTORE && ((VarInsnNode) insn).var == 0) {
                throw new Unsupported(insn, "a constructor that can suspend stores to local 0, which holds 'this'");
            }
            if (insn.getOpcode() == RETURN) {
                // Its twin returns the object.
                uses.computeIfAbsent(insn, any -> new BitSet()).set(0);
            }
        }
        live = new Liveness(flow, uses);
        for (CallSite site : sites) {
            site.setLiveness(live);
        }
    }
}
