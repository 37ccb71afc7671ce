package lamprey.transform.types;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lamprey.transform.Names;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.commons.Remapper;
import org.objectweb.asm.tree.AnnotationNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;

/** What the analysis knows of a class: its supertypes, its methods, and which of them are annotated. A method's key is its name and descriptor. */
public final class TypeInfo {
    /** With slashes. */
    public final String name;
    /** Null for Object. */
    public final String superName;
    /** With slashes. */
    public final List<String> interfaces;
    /** Access flags of class files. */
    public final int access;
    /** Access flags of each declared method, by key. */
    public final Map<String, Integer> methods = new HashMap<>();
    /** Keys of the methods with {@code @Primitive}. */
    public final Set<String> primitives = new HashSet<>();
    /** Keys of the methods with {@code @Suspendable}. */
    public final Set<String> suspendables = new HashSet<>();
    /** Whether it is a class of the module at hand. */
    public boolean inScope;
    /** What {@code @Transformed} says; null if it is not there. */
    public String mode;

    private TypeInfo(String name, String superName, List<String> interfaces, int access) {
        this.name = name;
        this.superName = superName;
        this.interfaces = interfaces;
        this.access = access;
    }

    /** Whether it is an interface. */
    public boolean isInterface() {
        return (access & Opcodes.ACC_INTERFACE) != 0;
    }

    /** Whether a declared method has one of the flags. */
    public boolean is(String key, int flags) {
        Integer a = methods.get(key);
        return a != null && (a & flags) != 0;
    }

    /** Whether a declared method is annotated as one that suspends. */
    public boolean isMarked(String key) {
        return primitives.contains(key) || suspendables.contains(key);
    }

    /** The same class with the names of types replaced; {@code created} replaces super classes. */
    public TypeInfo renamed(Remapper names, Map<String, String> created) {
        List<String> renamedInterfaces = new ArrayList<>();
        interfaces.forEach(i -> renamedInterfaces.add(names.map(i)));
        TypeInfo t = new TypeInfo(name, superName == null ? null : names.map(created.getOrDefault(superName, superName)), renamedInterfaces, access);
        t.inScope = inScope;
        t.mode = mode;
        methods.forEach((key, a) -> t.methods.put(renamed(names, key), a));
        primitives.forEach(key -> t.primitives.add(renamed(names, key)));
        suspendables.forEach(key -> t.suspendables.add(renamed(names, key)));
        return t;
    }

    private static String renamed(Remapper names, String key) {
        int bracket = key.indexOf('(');
        return key.substring(0, bracket) + names.mapMethodDesc(key.substring(bracket));
    }

    /** Of a class of the module at hand. */
    public static TypeInfo of(ClassNode node) {
        TypeInfo t = new TypeInfo(node.name, node.superName, node.interfaces, node.access);
        t.inScope = true;
        for (MethodNode m : node.methods) {
            t.methods.put(m.name + m.desc, m.access);
            t.annotate(m.visibleAnnotations, m.name + m.desc);
        }
        return t;
    }

    private void annotate(List<AnnotationNode> annotations, String key) {
        if (annotations != null) {
            for (AnnotationNode a : annotations) {
                annotate(a.desc, key);
            }
        }
    }

    private void annotate(String annotation, String key) {
        if (annotation.equals(Names.PRIMITIVE)) {
            primitives.add(key);
        } else if (annotation.equals(Names.SUSPENDABLE)) {
            suspendables.add(key);
        }
    }

    /** Of a class file; its code is not read. */
    public static TypeInfo of(byte[] classFile) {
        ClassReader reader = new ClassReader(classFile);
        TypeInfo t = new TypeInfo(reader.getClassName(), reader.getSuperName(), Arrays.asList(reader.getInterfaces()), reader.getAccess());
        reader.accept(t.new Reading(), ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        return t;
    }

    private final class Reading extends ClassVisitor {
        Reading() {
            super(Opcodes.ASM9);
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String desc, String signature, String[] exceptions) {
            String key = name + desc;
            methods.put(key, access);
            return new MethodVisitor(Opcodes.ASM9) {
                @Override
                public AnnotationVisitor visitAnnotation(String annotation, boolean visible) {
                    annotate(annotation, key);
                    return null;
                }
            };
        }

        @Override
        public AnnotationVisitor visitAnnotation(String annotation, boolean visible) {
            return !annotation.equals(Names.TRANSFORMED) ? null : new AnnotationVisitor(Opcodes.ASM9) {
                @Override
                public void visit(String element, Object value) {
                    mode = String.valueOf(value);
                }
            };
        }
    }

    /** Of a class of the JDK. */
    static TypeInfo of(Class<?> c) {
        List<String> interfaces = new ArrayList<>();
        for (Class<?> i : c.getInterfaces()) {
            interfaces.add(Type.getInternalName(i));
        }
        Class<?> superClass = c.isInterface() ? Object.class : c.getSuperclass();
        TypeInfo t = new TypeInfo(Type.getInternalName(c), superClass == null ? null : Type.getInternalName(superClass), interfaces, c.getModifiers());
        try {
            for (Method m : c.getDeclaredMethods()) {
                t.methods.put(m.getName() + Type.getMethodDescriptor(m), m.getModifiers());
            }
            for (Constructor<?> k : c.getDeclaredConstructors()) {
                t.methods.put("<init>" + Type.getConstructorDescriptor(k), k.getModifiers());
            }
        } catch (LinkageError e) {
            // A class of the JDK that refers to a module that is not there: what it inherits is still known.
            return t;
        }
        return t;
    }
}
