package lamprey.transform.rewrite;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import lamprey.transform.Names;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.FieldNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TypeInsnNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Makes {@code main(String[])} run as the first light thread. Its code moves to another method; {@code main} gives the runtime a {@code Runnable}, of a
 * generated class, that calls it. A light thread that calls {@code main} just runs the code: a program may start others. Calls of {@code main} within the module go to the code itself.
 */
public final class MainMethods {
    private static final String DESC = "([Ljava/lang/String;)V";
    private static final String ARGS = "[Ljava/lang/String;";

    private MainMethods() {}

    /** Changes the classes in place; returns the generated ones. */
    public static List<ClassNode> rewrite(Collection<ClassNode> scope) {
        List<ClassNode> generated = new ArrayList<>();
        Set<String> moved = new HashSet<>();
        for (ClassNode c : scope) {
            for (MethodNode m : new ArrayList<>(c.methods)) {
                int flags = Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC;
                if (m.name.equals("main") && m.desc.equals(DESC) && (m.access & flags) == flags) {
                    m.name = Names.MAIN_BODY;
                    m.access |= Opcodes.ACC_SYNTHETIC;
                    c.methods.add(starter(c, m));
                    generated.add(runnable(c));
                    moved.add(c.name);
                }
            }
        }
        for (ClassNode c : scope) {
            for (MethodNode m : c.methods) {
                for (AbstractInsnNode i = m.instructions.getFirst(); i != null; i = i.getNext()) {
                    if (i.getOpcode() == Opcodes.INVOKESTATIC && isMain((MethodInsnNode) i, moved)) {
                        ((MethodInsnNode) i).name = Names.MAIN_BODY;
                    }
                }
            }
        }
        return generated;
    }

    private static boolean isMain(MethodInsnNode call, Set<String> moved) {
        return call.name.equals("main") && call.desc.equals(DESC) && moved.contains(call.owner);
    }

    private static MethodNode starter(ClassNode c, MethodNode body) {
        MethodNode main = new MethodNode(Opcodes.ASM9, Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC, "main", DESC, null,
            body.exceptions.toArray(new String[0]));
        String runnable = c.name + Names.MAIN_CLASS;
        boolean inInterface = (c.access & Opcodes.ACC_INTERFACE) != 0;
        LabelNode first = new LabelNode();
        main.instructions.add(new MethodInsnNode(Opcodes.INVOKESTATIC, Names.MAIN, "isRunning", "()Z", false));
        main.instructions.add(new JumpInsnNode(Opcodes.IFEQ, first));
        main.instructions.add(new VarInsnNode(Opcodes.ALOAD, 0));
        main.instructions.add(new MethodInsnNode(Opcodes.INVOKESTATIC, c.name, Names.MAIN_BODY, DESC, inInterface));
        main.instructions.add(new InsnNode(Opcodes.RETURN));
        main.instructions.add(first);
        main.instructions.add(new FrameNode(Opcodes.F_NEW, 1, new Object[] {ARGS}, 0, new Object[0]));
        main.instructions.add(new TypeInsnNode(Opcodes.NEW, runnable));
        main.instructions.add(new InsnNode(Opcodes.DUP));
        main.instructions.add(new VarInsnNode(Opcodes.ALOAD, 0));
        main.instructions.add(new MethodInsnNode(Opcodes.INVOKESPECIAL, runnable, "<init>", "(" + ARGS + ")V", false));
        main.instructions.add(new MethodInsnNode(Opcodes.INVOKESTATIC, Names.MAIN, "run", "(Ljava/lang/Runnable;)V", false));
        main.instructions.add(new InsnNode(Opcodes.RETURN));
        main.maxStack = 3;
        main.maxLocals = 1;
        return main;
    }

    private static ClassNode runnable(ClassNode of) {
        ClassNode c = new ClassNode();
        // Of an old class file, main may be refused; this class, which the user does not know, shall not be.
        c.version = (of.version & 0xffff) < Opcodes.V1_6 ? Opcodes.V1_6 : of.version;
        c.access = Opcodes.ACC_FINAL | Opcodes.ACC_SUPER | Opcodes.ACC_SYNTHETIC;
        c.name = of.name + Names.MAIN_CLASS;
        c.superName = "java/lang/Object";
        c.interfaces.add("java/lang/Runnable");
        c.sourceFile = of.sourceFile;
        c.fields.add(new FieldNode(Opcodes.ACC_PRIVATE | Opcodes.ACC_FINAL, "args", ARGS, null, null));
        MethodNode init = new MethodNode(Opcodes.ASM9, 0, "<init>", "(" + ARGS + ")V", null, null);
        init.instructions.add(new VarInsnNode(Opcodes.ALOAD, 0));
        init.instructions.add(new MethodInsnNode(Opcodes.INVOKESPECIAL, "java/lang/Object", "<init>", "()V", false));
        init.instructions.add(new VarInsnNode(Opcodes.ALOAD, 0));
        init.instructions.add(new VarInsnNode(Opcodes.ALOAD, 1));
        init.instructions.add(new FieldInsnNode(Opcodes.PUTFIELD, c.name, "args", ARGS));
        init.instructions.add(new InsnNode(Opcodes.RETURN));
        init.maxStack = init.maxLocals = 2;
        c.methods.add(init);
        MethodNode run = new MethodNode(Opcodes.ASM9, Opcodes.ACC_PUBLIC, "run", "()V", null, null);
        run.instructions.add(new VarInsnNode(Opcodes.ALOAD, 0));
        run.instructions.add(new FieldInsnNode(Opcodes.GETFIELD, c.name, "args", ARGS));
        boolean inInterface = (of.access & Opcodes.ACC_INTERFACE) != 0;
        run.instructions.add(new MethodInsnNode(Opcodes.INVOKESTATIC, of.name, Names.MAIN_BODY, DESC, inInterface));
        run.instructions.add(new InsnNode(Opcodes.RETURN));
        run.maxStack = run.maxLocals = 1;
        c.methods.add(run);
        return c;
    }
}
