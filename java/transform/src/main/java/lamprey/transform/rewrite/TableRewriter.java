package lamprey.transform.rewrite;

import java.util.List;
import lamprey.transform.Refusal;
import lamprey.transform.types.Types;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.commons.ClassRemapper;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TypeInsnNode;

/**
 * Applies a {@link RewriteTable} to a class: calls first, by their original names; then what is created and extended; then the names of types. Refuses
 * what would not link afterwards: see {@link LinkCheck}.
 */
public final class TableRewriter {
    private final RewriteTable table;
    private final Types original;
    private final LinkCheck check;

    /** With the classes by their original names. */
    public TableRewriter(RewriteTable table, Types original, List<Refusal> refusals) {
        this.table = table;
        this.original = original;
        check = new LinkCheck(table, original, refusals);
    }

    /** The rewritten class. */
    public ClassNode rewrite(ClassNode type) {
        check.type(type);
        String oldSuper = type.superName;
        String newSuper = table.news.get(oldSuper);
        for (MethodNode m : type.methods) {
            check.method(type, m);
            for (AbstractInsnNode i : m.instructions.toArray()) {
                if (i instanceof MethodInsnNode) {
                    call(type, m, (MethodInsnNode) i, oldSuper, newSuper);
                } else if (i.getOpcode() == Opcodes.NEW) {
                    TypeInsnNode made = (TypeInsnNode) i;
                    made.desc = table.news.getOrDefault(made.desc, made.desc);
                } else if (i instanceof InvokeDynamicInsnNode) {
                    handles(type, m, (InvokeDynamicInsnNode) i);
                } else {
                    check.field(type, m, i);
                }
            }
        }
        if (newSuper != null) {
            type.superName = newSuper;
        }
        if (table.types.isEmpty()) {
            return type;
        }
        ClassNode renamed = new ClassNode();
        type.accept(new ClassRemapper(Opcodes.ASM9, renamed, table.remapper) {});
        return renamed;
    }

    private void call(ClassNode type, MethodNode m, MethodInsnNode call, String oldSuper, String newSuper) {
        boolean special = call.getOpcode() == Opcodes.INVOKESPECIAL;
        boolean init = call.name.equals("<init>");
        RewriteTable.Target to = table.target(original, special, call.owner, call.name, call.desc);
        if (to != null && !(init && ConstructorCalls.isOfSelf(type, m, call))) {
            MethodInsnNode replaced = new MethodInsnNode(Opcodes.INVOKESTATIC, to.owner, to.name, to.desc, false);
            if (init) {
                ConstructorCalls.replace(m, call, replaced);
            } else {
                m.instructions.set(call, replaced);
            }
        } else if (init && table.news.containsKey(call.owner)) {
            call.owner = table.news.get(call.owner);
        } else if (special && newSuper != null && call.owner.equals(oldSuper)) {
            call.owner = newSuper;
        } else {
            check.call(type, m, call);
        }
    }

    private void handles(ClassNode type, MethodNode m, InvokeDynamicInsnNode indy) {
        check.lambda(type, m, indy);
        for (int i = 0; i < indy.bsmArgs.length; i++) {
            if (indy.bsmArgs[i] instanceof Handle) {
                indy.bsmArgs[i] = handle(type, m, indy, (Handle) indy.bsmArgs[i]);
            }
        }
    }

    private Handle handle(ClassNode type, MethodNode m, AbstractInsnNode at, Handle h) {
        if (h.getTag() < Opcodes.H_INVOKEVIRTUAL) {
            return h;
        }
        RewriteTable.Target to = table.target(original, h.getTag() == Opcodes.H_INVOKESPECIAL, h.getOwner(), h.getName(), h.getDesc());
        if (to != null) {
            return new Handle(Opcodes.H_INVOKESTATIC, to.owner, to.name, to.desc, false);
        }
        if (h.getTag() == Opcodes.H_NEWINVOKESPECIAL && table.news.containsKey(h.getOwner())) {
            return new Handle(h.getTag(), table.news.get(h.getOwner()), h.getName(), h.getDesc(), false);
        }
        check.reference(type, m, at, h.getOwner(), h.getName(), h.getDesc());
        return h;
    }
}
