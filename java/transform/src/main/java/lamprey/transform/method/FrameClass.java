package lamprey.transform.method;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Generates a method's frame class. Beside the fields it has, for each combination of fields that sites save, a static method {@code save}: it makes
 * the frame and hands it to {@code Suspend.capture}. So the handlers in the method itself stay short, and JITs inline the method as before.
 *
 * <p>What is known of the method ({@code INFO}) is made when it is first asked for, by {@code info()}, not by a static initialiser: a thread may have hardly any
 * stack left when it saves this frame first, and a class whose initialiser has failed can never be used again.
 */
final class FrameClass implements Opcodes {
    /** The longest constant string is 65535 bytes of modified UTF-8, at most three for a char. */
    private static final int CHUNK = 20_000;

    /** For sites that save too much for one call. */
    static final String MAKE = "make";
    static final String CAPTURE = "capture";

    final String name;
    private final ClassWriter out = new ClassWriter(ClassWriter.COMPUTE_MAXS);
    private final Set<String> saves = new HashSet<>();

    FrameClass(String name, FrameLayout layout, long hash) {
        this.name = name;
        out.visit(V1_8, ACC_FINAL | ACC_SUPER | ACC_SYNTHETIC, name, null, Runtime.FRAME, null);
        out.visitField(ACC_PRIVATE | ACC_STATIC | ACC_FINAL, "serialVersionUID", "J", null, hash).visitEnd();
        out.visitField(ACC_PRIVATE | ACC_STATIC, "INFO", "L" + Runtime.INFO + ";", null, null).visitEnd();
        for (FrameLayout.Field f : layout.fields) {
            out.visitField(0, f.name, f.desc(), null, null).visitEnd();
        }
        constructor();
    }

    private void constructor() {
        MethodVisitor m = begin(0, "<init>", "(I)V");
        m.visitVarInsn(ALOAD, 0);
        m.visitMethodInsn(INVOKESPECIAL, Runtime.FRAME, "<init>", "()V", false);
        m.visitVarInsn(ALOAD, 0);
        m.visitVarInsn(ILOAD, 1);
        m.visitFieldInsn(PUTFIELD, Runtime.FRAME, "site", "I");
        end(m, RETURN);
    }

    /**
     * Name and descriptor of the method that saves a site's frame. {@code save} takes the Suspend, the site's number, the receiver, and what is
     * saved; {@link #CAPTURE}, where these are too many, the Suspend, the frame from {@link #MAKE}, and the receiver.
     */
    String save(CallSite site) {
        StringBuilder desc = new StringBuilder("(L" + Runtime.SUSPEND + ";ILjava/lang/Object;");
        StringBuilder method = new StringBuilder("save");
        int words = 3;
        for (CallSite.Saved s : site.saved) {
            desc.append(s.field.desc());
            method.append('$').append(s.field.name);
            words += Types.size(s.type);
        }
        if (words > 250 || method.length() > 4000) {
            if (saves.add(CAPTURE)) {
                generateForLargeFrames();
            }
            return CAPTURE + largeDesc();
        }
        String signature = desc.append(")L" + Runtime.SUSPEND + ";").toString();
        if (saves.add(method.toString())) {
            generateSave(method.toString(), signature, site);
        }
        return method + signature;
    }

    private void generateSave(String method, String signature, CallSite site) {
        MethodVisitor m = begin(ACC_STATIC, method, signature);
        m.visitVarInsn(ALOAD, 0);
        m.visitTypeInsn(NEW, name);
        m.visitInsn(DUP);
        m.visitVarInsn(ILOAD, 1);
        m.visitMethodInsn(INVOKESPECIAL, name, "<init>", "(I)V", false);
        int k = 3;
        for (CallSite.Saved s : site.saved) {
            m.visitInsn(DUP);
            m.visitVarInsn(Types.opcode(s.type, ILOAD), k);
            m.visitFieldInsn(PUTFIELD, name, s.field.name, s.field.desc());
            k += Types.size(s.type);
        }
        info(m, "info");
        m.visitVarInsn(ALOAD, 2);
        m.visitMethodInsn(INVOKEVIRTUAL, Runtime.SUSPEND, "capture", captureDesc(), false);
        end(m, ARETURN);
    }

    private void generateForLargeFrames() {
        MethodVisitor m = begin(ACC_STATIC, MAKE, "(I)L" + name + ";");
        m.visitTypeInsn(NEW, name);
        m.visitInsn(DUP);
        m.visitVarInsn(ILOAD, 0);
        m.visitMethodInsn(INVOKESPECIAL, name, "<init>", "(I)V", false);
        end(m, ARETURN);
        m = begin(ACC_STATIC, CAPTURE, largeDesc());
        for (int k = 0; k < 2; k++) {
            m.visitVarInsn(ALOAD, k);
        }
        info(m, "info");
        m.visitVarInsn(ALOAD, 2);
        m.visitMethodInsn(INVOKEVIRTUAL, Runtime.SUSPEND, "capture", captureDesc(), false);
        end(m, ARETURN);
    }

    private String largeDesc() {
        return "(L" + Runtime.SUSPEND + ";L" + name + ";Ljava/lang/Object;)L" + Runtime.SUSPEND + ";";
    }

    private static String captureDesc() {
        return "(L" + Runtime.FRAME + ";L" + Runtime.INFO + ";Ljava/lang/Object;)L" + Runtime.SUSPEND + ";";
    }

    /** The rest, when all sites are known. */
    byte[] finish(Plan plan, String file, long hash, String aliases) {
        MethodVisitor m = begin(ACC_STATIC | ACC_SYNCHRONIZED, "make$info", infoDesc());
        ifNull(m);
        m.visitLdcInsn(Type.getObjectType(plan.owner));
        m.visitLdcInsn(plan.method.name);
        m.visitLdcInsn(plan.method.desc);
        m.visitLdcInsn(file);
        m.visitLdcInsn(hash);
        text(m, describe(plan.sites));
        m.visitLdcInsn(aliases);
        m.visitMethodInsn(INVOKESTATIC, Runtime.INFO, "transformed", "(Ljava/lang/Class;Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;J"
            + "Ljava/lang/String;Ljava/lang/String;)L" + Runtime.INFO + ";", false);
        m.visitFieldInsn(PUTSTATIC, name, "INFO", "L" + Runtime.INFO + ";");
        m.visitFieldInsn(GETSTATIC, name, "INFO", "L" + Runtime.INFO + ";");
        end(m, ARETURN);
        m = begin(ACC_STATIC, "info", infoDesc());
        ifNull(m);
        info(m, "make$info");
        end(m, ARETURN);
        m = begin(ACC_PUBLIC, "method", "()L" + Runtime.INFO + ";");
        info(m, "info");
        end(m, ARETURN);
        resume(plan.owner, plan.isInterface, plan.method.name, plan.method.desc);
        out.visitEnd();
        return out.toByteArray();
    }

    /** Returns INFO if it is set. */
    private void ifNull(MethodVisitor m) {
        Label isNull = new Label();
        m.visitFieldInsn(GETSTATIC, name, "INFO", "L" + Runtime.INFO + ";");
        m.visitInsn(DUP);
        m.visitJumpInsn(IFNULL, isNull);
        m.visitInsn(ARETURN);
        m.visitLabel(isNull);
        m.visitFrame(F_SAME1, 0, null, 1, new Object[] {Runtime.INFO});
        m.visitInsn(POP);
    }

    private void info(MethodVisitor m, String method) {
        m.visitMethodInsn(INVOKESTATIC, name, method, infoDesc(), false);
    }

    private static String infoDesc() {
        return "()L" + Runtime.INFO + ";";
    }

    private void resume(String owner, boolean isInterface, String method, String desc) {
        Type result = Twin.result(owner, method, desc);
        MethodVisitor m = begin(ACC_PUBLIC, "resume", "(L" + Runtime.RESUME + ";)V");
        boolean keeps = result.getSort() != Type.VOID;
        if (keeps) {
            m.visitVarInsn(ALOAD, 1);
        }
        m.visitVarInsn(ALOAD, 0);
        m.visitVarInsn(ALOAD, 1);
        m.visitMethodInsn(INVOKESTATIC, owner, Twin.name(method), Twin.desc(name, result), isInterface);
        switch (result.getSort()) {
            case Type.VOID: break;
            case Type.OBJECT:
            case Type.ARRAY: m.visitFieldInsn(PUTFIELD, Runtime.RESUME, "ref", "Ljava/lang/Object;"); break;
            case Type.FLOAT: m.visitInsn(F2D); // falls through
            case Type.DOUBLE: m.visitFieldInsn(PUTFIELD, Runtime.RESUME, "real", "D"); break;
            case Type.LONG: m.visitFieldInsn(PUTFIELD, Runtime.RESUME, "prim", "J"); break;
            default:
                m.visitInsn(I2L);
                m.visitFieldInsn(PUTFIELD, Runtime.RESUME, "prim", "J");
        }
        end(m, RETURN);
    }

    private static String describe(List<CallSite> sites) {
        StringBuilder text = new StringBuilder();
        for (CallSite s : sites) {
            text.append(text.length() == 0 ? "" : "\n").append(s.kind()).append(' ').append(s.call.owner).append(' ').append(s.call.name)
                .append(' ').append(s.call.desc).append(' ').append(s.line);
        }
        return text.toString();
    }

    private static void text(MethodVisitor m, String text) {
        List<String> chunks = new ArrayList<>();
        for (int i = 0; i == 0 || i < text.length(); i += CHUNK) {
            chunks.add(text.substring(i, Math.min(text.length(), i + CHUNK)));
        }
        for (int i = 0; i < chunks.size(); i++) {
            m.visitLdcInsn(chunks.get(i));
            if (i > 0) {
                m.visitMethodInsn(INVOKEVIRTUAL, "java/lang/String", "concat", "(Ljava/lang/String;)Ljava/lang/String;", false);
            }
        }
    }

    private MethodVisitor begin(int access, String method, String desc) {
        MethodVisitor m = out.visitMethod(access, method, desc, null, method.equals("resume") ? new String[] {Runtime.THROWABLE} : null);
        m.visitCode();
        return m;
    }

    private static void end(MethodVisitor m, int op) {
        m.visitInsn(op);
        m.visitMaxs(0, 0);
        m.visitEnd();
    }
}
