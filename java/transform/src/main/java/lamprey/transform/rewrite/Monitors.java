package lamprey.transform.rewrite;

import java.util.ArrayList;
import java.util.List;
import lamprey.transform.Names;
import lamprey.transform.Refusal;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.VarInsnNode;

/** Replaces the monitors of the JVM, which belong to the kernel thread, by locks of the runtime. A synchronized method becomes a block with a finally. */
public final class Monitors {
    private Monitors() {}

    /** Changes the class in place. */
    public static void rewrite(ClassNode type, List<Refusal> refusals) {
        for (MethodNode m : type.methods) {
            blocks(m);
            if ((m.access & Opcodes.ACC_SYNCHRONIZED) == 0) {
                continue;
            }
            if ((m.access & Opcodes.ACC_NATIVE) != 0) {
                refusals.add(new Refusal(type.name.replace('/', '.'), m.name, -1, "a synchronized native method locks the monitor of the JVM, "
                    + "which the transformed code does not use; exclude the class, or lock in a method that calls it"));
            } else {
                method(type, m);
            }
        }
    }

    private static void blocks(MethodNode m) {
        boolean some = false;
        for (AbstractInsnNode i : m.instructions.toArray()) {
            if (i.getOpcode() == Opcodes.MONITORENTER || i.getOpcode() == Opcodes.MONITOREXIT) {
                m.instructions.set(i, call(i.getOpcode() == Opcodes.MONITORENTER ? "enter" : "exit"));
                some = true;
            }
        }
        if (some) {
            // javac lets the handler that leaves a monitor cover itself: if exit threw, it would run for ever.
            m.tryCatchBlocks.removeIf(b -> b.type == null && b.start == b.handler);
        }
    }

    private static MethodInsnNode call(String name) {
        return new MethodInsnNode(Opcodes.INVOKESTATIC, Names.MONITORS, name, "(Ljava/lang/Object;)V", false);
    }

    private static void method(ClassNode type, MethodNode m) {
        m.access &= ~Opcodes.ACC_SYNCHRONIZED;
        int lock = Math.max(m.maxLocals, (Type.getArgumentsAndReturnSizes(m.desc) >> 2) - ((m.access & Opcodes.ACC_STATIC) != 0 ? 1 : 0));
        m.maxLocals = lock + 1;
        LabelNode handler = new LabelNode();
        LabelNode start = new LabelNode();
        LabelNode first = start;
        List<TryCatchBlockNode> ranges = new ArrayList<>();
        for (AbstractInsnNode i : m.instructions.toArray()) {
            int op = i.getOpcode();
            if (i instanceof FrameNode) {
                addLocal((FrameNode) i, lock);
            } else if (op >= Opcodes.IRETURN && op <= Opcodes.RETURN) {
                LabelNode end = new LabelNode();
                LabelNode next = new LabelNode();
                InsnList leave = new InsnList();
                leave.add(end);
                leave.add(new VarInsnNode(Opcodes.ALOAD, lock));
                leave.add(call("exit"));
                m.instructions.insertBefore(i, leave);
                m.instructions.insert(i, next);
                ranges.add(new TryCatchBlockNode(start, end, handler, null));
                start = next;
            }
        }
        LabelNode end = new LabelNode();
        InsnList last = new InsnList();
        last.add(end);
        last.add(handler);
        last.add(new FrameNode(Opcodes.F_NEW, lock + 1, locals(lock), 1, new Object[] {"java/lang/Throwable"}));
        last.add(new VarInsnNode(Opcodes.ALOAD, lock));
        last.add(call("exit"));
        last.add(new InsnNode(Opcodes.ATHROW));
        m.instructions.add(last);
        ranges.add(new TryCatchBlockNode(start, end, handler, null));
        enter(type, m, lock, first);
        for (TryCatchBlockNode range : ranges) {
            if (!isEmpty(range)) {
                m.tryCatchBlocks.add(range);
            }
        }
        m.maxStack = Math.max(m.maxStack + 1, 2);
    }

    private static void enter(ClassNode type, MethodNode m, int lock, LabelNode first) {
        InsnList enter = new InsnList();
        if ((m.access & Opcodes.ACC_STATIC) != 0) {
            enter.add(new LdcInsnNode(Type.getObjectType(type.name)));
        } else {
            enter.add(new VarInsnNode(Opcodes.ALOAD, 0));
        }
        enter.add(new InsnNode(Opcodes.DUP));
        enter.add(new VarInsnNode(Opcodes.ASTORE, lock));
        enter.add(call("enter"));
        enter.add(first);
        m.instructions.insert(enter);
    }

    private static boolean isEmpty(TryCatchBlockNode range) {
        for (AbstractInsnNode i = range.start; i != range.end; i = i.getNext()) {
            if (i.getOpcode() >= 0) {
                return false;
            }
        }
        return true;
    }

    /** Of the handler: what the method has stored in its locals is not known there. */
    private static Object[] locals(int lock) {
        Object[] locals = new Object[lock + 1];
        java.util.Arrays.fill(locals, Opcodes.TOP);
        locals[lock] = "java/lang/Object";
        return locals;
    }

    private static void addLocal(FrameNode frame, int lock) {
        List<Object> locals = frame.local == null ? new ArrayList<>() : new ArrayList<>(frame.local);
        int slots = 0;
        for (Object l : locals) {
            slots += l == Opcodes.LONG || l == Opcodes.DOUBLE ? 2 : 1;
        }
        for (; slots < lock; slots++) {
            locals.add(Opcodes.TOP);
        }
        locals.add("java/lang/Object");
        frame.local = locals;
    }
}
