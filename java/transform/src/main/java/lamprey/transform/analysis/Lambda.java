package lamprey.transform.analysis;

import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;

/** A lambda or method reference: the interface, the methods of it by which the body is called, and the body. */
public final class Lambda {
    private static final String FACTORY = "java/lang/invoke/LambdaMetafactory";
    private static final int FLAG_SERIALIZABLE = 1;
    private static final int FLAG_MARKERS = 2;
    private static final int FLAG_BRIDGES = 4;

    /** The instruction. */
    public final InvokeDynamicInsnNode site;
    /** The interface. */
    public final String type;
    /** Name of its method. */
    public final String name;
    /** Its descriptors: the erased one first, then those of bridges. */
    public final List<String> descs = new ArrayList<>();
    /** The body: a method of this class for lambdas, any method or constructor for references. */
    public final Handle body;
    /** The descriptor of the interface's method with the types of this use. */
    public final Type instantiated;

    private Lambda(InvokeDynamicInsnNode site) {
        this.site = site;
        type = Type.getReturnType(site.desc).getInternalName();
        name = site.name;
        descs.add(((Type) site.bsmArgs[0]).getDescriptor());
        body = (Handle) site.bsmArgs[1];
        instantiated = (Type) site.bsmArgs[2];
        if (site.bsm.getName().equals("altMetafactory")) {
            readBridges();
        }
    }

    private void readBridges() {
        int flags = (Integer) site.bsmArgs[3];
        int next = 4;
        if ((flags & FLAG_MARKERS) != 0) {
            next += 1 + (Integer) site.bsmArgs[next];
        }
        if ((flags & FLAG_BRIDGES) != 0) {
            int count = (Integer) site.bsmArgs[next];
            for (int i = 1; i <= count; i++) {
                descs.add(((Type) site.bsmArgs[next + i]).getDescriptor());
            }
        }
    }

    /** Of an instruction; null if it is something else. */
    public static Lambda of(InvokeDynamicInsnNode indy) {
        boolean factory = indy.bsm.getOwner().equals(FACTORY)
            && (indy.bsm.getName().equals("metafactory") || indy.bsm.getName().equals("altMetafactory"));
        return factory && Type.getReturnType(indy.desc).getSort() == Type.OBJECT ? new Lambda(indy) : null;
    }

    /** Whether it can be serialised. */
    public boolean isSerializable() {
        return site.bsm.getName().equals("altMetafactory") && ((Integer) site.bsmArgs[3] & FLAG_SERIALIZABLE) != 0;
    }

    /** Whether the body is a constructor. */
    public boolean makesNew() {
        return body.getTag() == Opcodes.H_NEWINVOKESPECIAL;
    }

    /**
     * Whether the class that the JVM makes does nothing after the body has returned but return its result. Then a body that suspends need not
     * be called by it again.
     */
    public boolean passesResultOn() {
        Type to = instantiated.getReturnType();
        Type from = Type.getReturnType(body.getDesc());
        if (to.getSort() == Type.VOID) {
            return true;
        }
        boolean references = isReference(to) && isReference(from);
        return references || to.equals(from);
    }

    static boolean isReference(Type t) {
        return t.getSort() == Type.OBJECT || t.getSort() == Type.ARRAY;
    }
}
