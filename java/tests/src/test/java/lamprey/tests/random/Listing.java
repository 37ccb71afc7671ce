package lamprey.tests.random;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.util.Textifier;
import org.objectweb.asm.util.TraceMethodVisitor;

/** The instructions of a program, as text. */
final class Listing {
    private Listing() {}

    /** Methods that do more than to return. */
    static String of(Program p) {
        StringWriter text = new StringWriter();
        Classes.write(p, new int[Feature.values().length]).forEach((name, file) -> {
            ClassNode type = new ClassNode();
            new ClassReader(file).accept(type, ClassReader.SKIP_DEBUG);
            for (MethodNode m : type.methods) {
                // A method whose body is gone still has the check at its head.
                if (!name.equals(Program.GO) && m.instructions.size() > 16) {
                    Textifier t = new Textifier();
                    m.accept(new TraceMethodVisitor(t));
                    text.append(name).append('.').append(m.name).append(m.desc).append('\n');
                    t.print(new PrintWriter(text));
                }
            }
        });
        return text.toString();
    }
}
