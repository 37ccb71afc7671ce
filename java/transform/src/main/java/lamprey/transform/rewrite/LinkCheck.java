package lamprey.transform.rewrite;

import java.util.List;
import lamprey.transform.Refusal;
import lamprey.transform.analysis.Code;
import lamprey.transform.analysis.Lambda;
import lamprey.transform.types.TypeInfo;
import lamprey.transform.types.Types;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Refuses what would not link, or would quietly mean something else, once names of types have been replaced: methods of the JDK or of other jars that
 * have such a type in their descriptor, overrides of them, and classes that extend a JDK class which extends one.
 */
final class LinkCheck {
    private final RewriteTable table;
    private final Types types;
    private final List<Refusal> refusals;

    LinkCheck(RewriteTable table, Types types, List<Refusal> refusals) {
        this.table = table;
        this.types = types;
        this.refusals = refusals;
    }

    void type(ClassNode c) {
        if (c.superName == null || table.types.containsKey(c.superName) || table.news.containsKey(c.superName)) {
            return;
        }
        TypeInfo s = types.get(c.superName);
        if (s == null || s.inScope) {
            return;
        }
        if (isGroup(c) && table.types.containsKey("java/lang/Thread")) {
            refuse(c, "", -1, "it extends java.lang.ThreadGroup, and light threads have no groups: nothing would call its uncaughtException. Set the"
                + " handler by Thread.setUncaughtExceptionHandler or setDefaultUncaughtExceptionHandler, or exclude the class");
            return;
        }
        for (String t : types.supertypes(c.superName)) {
            if (table.types.containsKey(t)) {
                refuse(c, "", -1, "it extends " + dots(c.superName) + ", a " + dots(t) + ", which is replaced by " + dots(table.types.get(t))
                    + "; extend that, or exclude the class");
            }
        }
    }

    private boolean isGroup(ClassNode c) {
        return c.superName != null && types.isSubtype(c.superName, "java/lang/ThreadGroup");
    }

    /** A method that overrides one of another jar, and would not after its descriptor has changed. */
    void method(ClassNode c, MethodNode m) {
        if (isGroup(c) || !table.renamesMethod(m.desc) || m.name.equals("<init>") || (m.access & (Opcodes.ACC_STATIC | Opcodes.ACC_PRIVATE)) != 0) {
            return;
        }
        String after = m.name + table.remapper.mapMethodDesc(m.desc);
        for (String s : types.supertypes(c.name)) {
            TypeInfo t = types.get(s);
            TypeInfo by = types.get(table.types.getOrDefault(s, table.news.getOrDefault(s, s)));
            if (t != null && !t.inScope && t.methods.containsKey(m.name + m.desc) && by != null && types.resolve(by.name, after) == null) {
                refuse(c, m.name, firstLine(m), "it overrides a method of " + dots(s) + " that has the type " + renamed(m.desc)
                    + "; the class cannot be transformed: exclude it");
                return;
            }
        }
    }

    void call(ClassNode c, MethodNode m, MethodInsnNode call) {
        reference(c, m, call, call.owner, call.name, call.desc);
    }

    void reference(ClassNode c, MethodNode m, AbstractInsnNode at, String owner, String name, String desc) {
        if (!table.renamesMethod(desc) && !reachesRenamed(owner)) {
            return;
        }
        TypeInfo declares = types.resolve(owner, name + desc);
        if (declares == null || declares.inScope) {
            return;
        }
        String after = name + table.remapper.mapMethodDesc(desc);
        String newOwner = table.types.getOrDefault(declares.name, declares.name);
        if (types.get(newOwner) != null && types.resolve(newOwner, after) == null) {
            String method = dots(declares.name) + "." + name + desc;
            refuse(c, m.name, Code.line(at), newOwner.equals(declares.name)
                ? method + " has the type " + renamed(desc) + "; no replacement of the method is known. Exclude the class, or do without the call"
                : method + " is not in " + dots(newOwner) + ", which replaces it; do without the call");
        }
    }

    private boolean reachesRenamed(String owner) {
        for (String s : types.supertypes(owner)) {
            if (table.types.containsKey(s)) {
                return true;
            }
        }
        return false;
    }

    void field(ClassNode c, MethodNode m, AbstractInsnNode i) {
        if (i instanceof FieldInsnNode && table.renames(((FieldInsnNode) i).desc)) {
            FieldInsnNode f = (FieldInsnNode) i;
            TypeInfo owner = types.get(f.owner);
            if (owner != null && !owner.inScope && Types.isJdk(f.owner) && !table.types.containsKey(f.owner)) {
                refuse(c, m.name, Code.line(i), "the field " + dots(f.owner) + "." + f.name + " has the type " + renamed("()" + f.desc)
                    + "; exclude the class, or do without the field");
            }
        }
    }

    void lambda(ClassNode c, MethodNode m, InvokeDynamicInsnNode indy) {
        Lambda l = Lambda.of(indy);
        TypeInfo t = l == null || table.types.containsKey(l.type) ? null : types.get(l.type);
        if (t != null && !t.inScope && table.renamesMethod(l.descs.get(0))
            && types.resolve(l.type, l.name + table.remapper.mapMethodDesc(l.descs.get(0))) == null) {
            refuse(c, m.name, Code.line(indy), "the method of " + dots(l.type) + " has the type " + renamed(l.descs.get(0)) + "; exclude the class");
        }
    }

    private String renamed(String desc) {
        for (String t : table.types.keySet()) {
            if (desc.contains("L" + t + ";")) {
                return dots(t) + ", which is replaced by " + dots(table.types.get(t));
            }
        }
        return desc;
    }

    private static int firstLine(MethodNode m) {
        for (AbstractInsnNode i = m.instructions.getFirst(); i != null; i = i.getNext()) {
            if (Code.line(i) >= 0) {
                return Code.line(i);
            }
        }
        return -1;
    }

    private static String dots(String name) {
        return name.replace('/', '.');
    }

    private void refuse(ClassNode c, String method, int line, String reason) {
        refusals.add(new Refusal(dots(c.name), method, line, reason));
    }
}
