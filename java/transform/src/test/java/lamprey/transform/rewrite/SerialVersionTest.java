package lamprey.transform.rewrite;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectStreamClass;
import java.io.Serializable;
import java.util.Collections;
import java.util.List;
import lamprey.transform.ClassSource;
import lamprey.transform.types.TypeInfo;
import lamprey.transform.types.Types;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.tree.ClassNode;

/** A serialisable class keeps the version that it has without transformation. */
class SerialVersionTest {
    static class Base implements Serializable {
        static final int CONSTANT = Integer.parseInt("3");
        protected transient long a;
        private String b;

        Base(int a) {
            this.a = a;
        }

        Runnable task() {
            return () -> b = "x" + a;
        }
    }

    static final class Derived extends Base {
        Derived() {
            super(CONSTANT);
        }
    }

    static final class Declared extends Base {
        private static final long serialVersionUID = 77;

        Declared() {
            super(1);
        }
    }

    static final class NotSerialisable {}

    enum Constant { ONE }

    private static final ClassSource NOTHING = new ClassSource() {
        @Override
        public byte[] find(String internalName) {
            return null;
        }

        @Override
        public List<byte[]> marked() {
            return Collections.emptyList();
        }

        @Override
        public List<String> resources(String path) {
            return Collections.emptyList();
        }
    };

    private static ClassNode read(Class<?> c) throws IOException {
        ClassNode type = new ClassNode();
        try (InputStream in = c.getResourceAsStream(c.getName().substring(c.getName().lastIndexOf('.') + 1) + ".class")) {
            new ClassReader(in).accept(type, ClassReader.EXPAND_FRAMES);
        }
        return type;
    }

    private static Object version(Class<?> c) throws IOException {
        ClassNode type = read(c);
        Types types = new Types(NOTHING, t -> t);
        types.put(TypeInfo.of(read(Base.class)));
        types.put(TypeInfo.of(type));
        SerialVersion.keep(type, types);
        return type.fields.stream().filter(f -> f.name.equals("serialVersionUID")).map(f -> f.value).findFirst().orElse(null);
    }

    @Test
    void computed_as_java_does() throws Exception {
        assertEquals(ObjectStreamClass.lookup(Base.class).getSerialVersionUID(), version(Base.class));
        assertEquals(ObjectStreamClass.lookup(Derived.class).getSerialVersionUID(), version(Derived.class));
        assertEquals(77L, version(Declared.class));
        assertEquals(null, version(NotSerialisable.class));
        assertEquals(null, version(Constant.class));
    }
}
