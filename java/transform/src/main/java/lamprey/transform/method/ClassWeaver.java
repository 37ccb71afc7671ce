package lamprey.transform.method;

import lamprey.transform.Calls;
import lamprey.transform.Mode;
import lamprey.transform.Woven;
import org.objectweb.asm.tree.ClassNode;

/** Gives each method of a class that can suspend its handlers and its twin, and generates the frame classes. */
public final class ClassWeaver {
    private ClassWeaver() {}

    /** The class is read with EXPAND_FRAMES, and already rewritten; it is changed in place. */
    public static Woven weave(ClassNode type, Calls calls, Mode mode) {
        throw new UnsupportedOperationException("not written yet");
    }
}
