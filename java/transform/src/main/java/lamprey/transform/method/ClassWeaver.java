package lamprey.transform.method;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import lamprey.transform.Calls;
import lamprey.transform.Mode;
import lamprey.transform.Names;
import lamprey.transform.Refusal;
import lamprey.transform.Woven;
import org.objectweb.asm.ClassTooLargeException;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodTooLargeException;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.FieldNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/** Gives each method of a class that can suspend its handlers and its twin, and generates the frame classes. */
public final class ClassWeaver implements Opcodes {
    private final ClassNode type;
    private final Calls calls;
    private final Mode mode;
    private final Woven woven = new Woven();
    private final Accessible accessible;
    private final Set<String> writtenInConstructors = new HashSet<>();
    private final List<MethodNode> twins = new ArrayList<>();

    private ClassWeaver(ClassNode type, Calls calls, Mode mode) {
        this.type = type;
        this.calls = calls;
        this.mode = mode;
        accessible = new Accessible(type);
    }

    /** The class is read with EXPAND_FRAMES, and already rewritten; it is changed in place. */
    public static Woven weave(ClassNode type, Calls calls, Mode mode) {
        return new ClassWeaver(type, calls, mode).run();
    }

    private Woven run() {
        int count = type.methods.size();
        for (int n = 0; n < count; n++) {
            MethodNode m = type.methods.get(n);
            if (m.instructions.size() > 0 && !isPrimitive(m)) {
                try {
                    method(m, n);
                } catch (Unsupported e) {
                    refuse(m, e.at, e.getMessage());
                }
            }
        }
        type.methods.addAll(twins);
        for (FieldNode f : type.fields) {
            if (writtenInConstructors.contains(f.name + f.desc)) {
                f.access &= ~ACC_FINAL;
            }
        }
        if (woven.refusals.isEmpty()) {
            write();
        }
        return woven;
    }

    /** Written by hand: the error that suspends leaves it as it is. */
    private static boolean isPrimitive(MethodNode m) {
        return m.visibleAnnotations != null && m.visibleAnnotations.stream().anyMatch(a -> a.desc.equals(Names.PRIMITIVE));
    }

    private void method(MethodNode m, int number) throws Unsupported {
        Set<AbstractInsnNode> suspending = suspending(m);
        String code = null;
        if (!suspending.isEmpty()) {
            check(m);
            code = CodeHash.code(type.name, m);
            NewMover.move(type.name, m, suspending);
        }
        Plan plan = new Plan(type, m, mode, suspending);
        long hash = 0;
        if (!plan.sites.isEmpty()) {
            FrameLayout layout = new FrameLayout(plan.sites, accessible);
            hash = CodeHash.of(code, plan.sites);
            plan.frame = new FrameClass(type.name + "$pico" + number, layout, hash);
            twins.add(Twin.of(plan));
            if (plan.isConstructor()) {
                unfinal(m);
            }
        }
        if (plan.isConstructor() && mode == Mode.EXCEPTIONS && (calls.suspends(m) || isSiteElsewhere(m))) {
            twins.add(ReturningConstructor.of(plan));
        }
        BodyWriter body = new BodyWriter(plan, BodyWriter.Form.ORIGINAL, null);
        body.body();
        body.finish(m);
        if (plan.frame != null) {
            woven.frames.put(plan.frame.name, plan.frame.finish(plan, type.sourceFile == null ? "?" : type.sourceFile, hash, calls.aliases(m)));
        }
    }

    /** Whether {@code super(..)} of a subclass, if it calls this constructor, is a site. It may be although the constructor itself has none. */
    private boolean isSiteElsewhere(MethodNode constructor) {
        return calls.suspends(new MethodInsnNode(INVOKESPECIAL, type.name, "<init>", constructor.desc, false));
    }

    private Set<AbstractInsnNode> suspending(MethodNode m) {
        Set<AbstractInsnNode> found = new LinkedHashSet<>();
        if (calls.suspends(m)) {
            for (AbstractInsnNode insn : m.instructions) {
                if (insn instanceof MethodInsnNode && calls.suspends((MethodInsnNode) insn)) {
                    found.add(insn);
                }
            }
        }
        return found;
    }

    /** What cannot be transformed at all. */
    private void check(MethodNode m) throws Unsupported {
        if ((type.version & 0xffff) < V1_6) {
            throw new Unsupported(null, "the class file is of version " + (type.version & 0xffff) + ", which has no StackMapTable; compile for Java 8 or later");
        }
        if (m.name.equals("<clinit>")) {
            throw new Unsupported(null, "a static initialiser cannot suspend; do this work in a method that is called later");
        }
        if ((m.access & ACC_SYNCHRONIZED) != 0) {
            throw new Unsupported(null, "a synchronized method can suspend, and its lock was not rewritten; switch rewriting on, or use a Lock");
        }
        for (AbstractInsnNode insn : m.instructions) {
            if (insn.getOpcode() == JSR || insn.getOpcode() == RET) {
                throw new Unsupported(insn, "the class file uses jsr/ret; compile it for Java 8 or later");
            }
        }
    }

    /** A twin is no constructor: it may not write final fields. */
    private void unfinal(MethodNode constructor) {
        for (AbstractInsnNode insn : constructor.instructions) {
            if (insn.getOpcode() == PUTFIELD && ((FieldInsnNode) insn).owner.equals(type.name)) {
                writtenInConstructors.add(((FieldInsnNode) insn).name + ((FieldInsnNode) insn).desc);
            }
        }
    }

    private void write() {
        ClassWriter out = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        type.accept(out);
        try {
            woven.classFile = out.toByteArray();
        } catch (MethodTooLargeException e) {
            String name = e.getMethodName().replace("new$pico", "<init>").replace("$pico", "");
            woven.refusals.add(new Refusal(type.name.replace('/', '.'), name, -1, "the transformed method has " + e.getCodeSize()
                + " bytes of code, more than the 65535 that a class file can have; split the method, or exclude the class if nothing in it waits"));
        } catch (ClassTooLargeException e) {
            woven.refusals.add(new Refusal(type.name.replace('/', '.'), "", -1, "the transformed class has " + e.getConstantPoolCount()
                + " constants, more than the 65535 that a class file can have; split the class, or exclude it if nothing in it waits"));
        }
    }

    private void refuse(MethodNode m, AbstractInsnNode at, String reason) {
        int line = -1;
        for (AbstractInsnNode i = at == null ? m.instructions.getFirst() : at; i != null && line < 0; i = at == null ? i.getNext() : i.getPrevious()) {
            line = i instanceof LineNumberNode ? ((LineNumberNode) i).line : line;
        }
        woven.refusals.add(new Refusal(type.name.replace('/', '.'), m.name, line, reason));
    }
}
