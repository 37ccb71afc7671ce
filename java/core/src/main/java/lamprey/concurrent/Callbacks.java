package lamprey.concurrent;

import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Methods of the JDK that call a function of the program, for rewritten programs: here the call can be suspended. Each of them does what the JDK's does if the receiver is a
 * class of the JDK; a program's own class keeps its own method.
 *
 * <p>That these functions may suspend is assumed in the build (pom.xml).
 *
 * <p>Not here: streams, and methods that hold a lock while they call the function ({@code ConcurrentHashMap.computeIfAbsent}, synchronised
 * collections). A function that blocks in one of them gets a {@link lamprey.instrument.PinnedError}.
 */
public final class Callbacks {
    private Callbacks() {}

    private static final Class<?> SYNCHRONIZED_COLLECTION = Collections.synchronizedCollection(new java.util.ArrayList<>()).getClass();
    private static final Class<?> SYNCHRONIZED_MAP = Collections.synchronizedMap(new HashMap<>()).getClass();

    /** A class of java.util that does not hold a lock meanwhile. */
    private static boolean isPlain(Object o) {
        return o.getClass().getName().startsWith("java.util.") && !SYNCHRONIZED_COLLECTION.isInstance(o) && !SYNCHRONIZED_MAP.isInstance(o)
            && !(o instanceof java.util.Hashtable) && !(o instanceof java.util.Vector);
    }

    /** {@code i.forEach(action)}. */
    public static <T> void forEach(Iterable<T> i, Consumer<? super T> action) {
        if (!isPlain(i)) {
            i.forEach(action);
            return;
        }
        checked(action);
        for (T t : i) {
            action.accept(t);
        }
    }

    /** {@code m.forEach(action)}. */
    public static <K, V> void forEach(Map<K, V> m, BiConsumer<? super K, ? super V> action) {
        if (!isPlain(m)) {
            m.forEach(action);
            return;
        }
        checked(action);
        for (Map.Entry<K, V> e : m.entrySet()) {
            action.accept(e.getKey(), e.getValue());
        }
    }

    /** {@code m.computeIfAbsent(key, function)}. */
    public static <K, V> V computeIfAbsent(Map<K, V> m, K key, Function<? super K, ? extends V> function) {
        Class<?> c = m.getClass();
        if (c != HashMap.class && c != java.util.LinkedHashMap.class && c != java.util.TreeMap.class) {
            return m.computeIfAbsent(key, function);
        }
        checked(function);
        V old = m.get(key);
        if (old != null) {
            return old;
        }
        int size = m.size();
        V made = function.apply(key);
        if (m.size() != size) {
            throw new java.util.ConcurrentModificationException("the map has changed while the function of computeIfAbsent ran");
        }
        if (made != null) {
            m.put(key, made);
        }
        return made;
    }

    /** {@code o.ifPresent(action)}. */
    public static <T> void ifPresent(Optional<T> o, Consumer<? super T> action) {
        if (o.isPresent()) {
            action.accept(o.get());
        }
    }

    /** {@code o.map(function)}. */
    public static <T, R> Optional<R> map(Optional<T> o, Function<? super T, ? extends R> function) {
        checked(function);
        return o.isPresent() ? Optional.ofNullable(function.apply(o.get())) : Optional.empty();
    }

    /** {@code o.flatMap(function)}. */
    public static <T, R> Optional<R> flatMap(Optional<T> o, Function<? super T, Optional<R>> function) {
        checked(function);
        return o.isPresent() ? checked(function.apply(o.get())) : Optional.empty();
    }

    /** {@code o.orElseGet(supplier)}. */
    public static <T> T orElseGet(Optional<T> o, Supplier<? extends T> supplier) {
        return o.isPresent() ? o.get() : supplier.get();
    }

    private static <T> T checked(T function) {
        if (function == null) {
            throw new NullPointerException("the function is null");
        }
        return function;
    }
}
