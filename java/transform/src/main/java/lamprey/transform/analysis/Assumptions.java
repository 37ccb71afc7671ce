package lamprey.transform.analysis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;
import lamprey.transform.types.TypeInfo;
import lamprey.transform.types.Types;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.MethodInsnNode;

/**
 * What is taken to suspend without being seen to, since another jar may implement it:
 * <ul>
 * <li>all abstract methods of an interface or class that is named, as {@code java.lang.Runnable};
 * <li>those of {@code java.util.function}, by which a library is given code by its users;
 * <li>in a module that is rewritten, those of its own public interfaces and abstract classes that none of its classes implements. (A module that is not rewritten knows of
 * light threads, and annotates its methods.)
 * <li>the calls of one method in one class, {@code some.Caller:java.lang.Object.toString}.
 * </ul>
 */
public final class Assumptions {
    private static final int PUBLIC_ABSTRACT = Opcodes.ACC_PUBLIC | Opcodes.ACC_ABSTRACT;
    /** The interfaces of java.util.function. A package cannot be listed by reflection. */
    private static final String[] FUNCTIONS = ("BiConsumer BiFunction BinaryOperator BiPredicate BooleanSupplier Consumer DoubleBinaryOperator DoubleConsumer DoubleFunction"
        + " DoublePredicate DoubleSupplier DoubleToIntFunction DoubleToLongFunction DoubleUnaryOperator Function IntBinaryOperator IntConsumer IntFunction IntPredicate"
        + " IntSupplier IntToDoubleFunction IntToLongFunction IntUnaryOperator LongBinaryOperator LongConsumer LongFunction LongPredicate LongSupplier"
        + " LongToDoubleFunction LongToIntFunction LongUnaryOperator ObjDoubleConsumer ObjIntConsumer ObjLongConsumer Predicate Supplier ToDoubleBiFunction"
        + " ToDoubleFunction ToIntBiFunction ToIntFunction ToLongBiFunction ToLongFunction UnaryOperator").split(" ");

    private final Set<String> types = new HashSet<>();
    private final Set<String> calls = new HashSet<>();
    private final boolean ofUsers;

    /** From their text; {@code ofUsers}: and what the users of the module implement. */
    public Assumptions(List<String> texts, boolean ofUsers) {
        this.ofUsers = ofUsers;
        for (String f : FUNCTIONS) {
            types.add("java/util/function/" + f);
        }
        for (String text : texts) {
            String t = text.trim().replace('.', '/');
            (t.contains(":") ? calls : types).add(t);
        }
    }

    /** Whether this call of this class is one of them. */
    boolean covers(String caller, MethodInsnNode call) {
        return !calls.isEmpty() && calls.contains(caller + ":" + call.owner + "/" + call.name);
    }

    /** The methods of the types. {@code implemented}: whether a class of the module has this supertype. */
    Methods keys(Types known, Predicate<String> implemented) {
        return use -> {
            for (String name : types) {
                TypeInfo t = known.get(name);
                if (t == null) {
                    throw new IllegalArgumentException("the class " + name.replace('/', '.') + ", whose methods are assumed to suspend, is not found");
                }
                for (String s : new ArrayList<>(known.supertypes(name))) {
                    forAbstract(known.get(s), key -> use.accept(name, key));
                }
            }
            for (TypeInfo t : ofUsers ? new ArrayList<>(known.known()) : Collections.<TypeInfo>emptyList()) {
                if (t != null && t.inScope && (t.access & PUBLIC_ABSTRACT) == PUBLIC_ABSTRACT && (t.access & Opcodes.ACC_ANNOTATION) == 0 && !implemented.test(t.name)) {
                    forAbstract(t, key -> use.accept(t.name, key));
                }
            }
        };
    }

    private static void forAbstract(TypeInfo t, Consumer<String> use) {
        if (t != null) {
            t.methods.forEach((key, access) -> {
                if ((access & Opcodes.ACC_ABSTRACT) != 0) {
                    use.accept(key);
                }
            });
        }
    }

    /** A sequence of types and keys. */
    interface Methods {
        void forEach(BiConsumer<String, String> use);
    }
}
