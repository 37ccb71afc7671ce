package lamprey.concurrent;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.ListIterator;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

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

    /** The class of java.lang or java.util that a class has a public method from, by the name of the method: for those whose method is an interface's default. */
    private static final class Declaring extends ClassValue<Class<?>> {
        private final String name;
        private final Class<?> parameter;

        Declaring(String name, Class<?> parameter) {
            this.name = name;
            this.parameter = parameter;
        }

        @Override
        protected Class<?> computeValue(Class<?> type) {
            try {
                return type.getMethod(name, parameter).getDeclaringClass();
            } catch (NoSuchMethodException e) {
                throw new AssertionError(e);
            }
        }
    }

    private static final Declaring FOR_EACH = new Declaring("forEach", Consumer.class);
    private static final Declaring FOR_EACH_ENTRY = new Declaring("forEach", BiConsumer.class);
    private static final Declaring REMOVE_IF = new Declaring("removeIf", Predicate.class);
    private static final Declaring REPLACE_ALL = new Declaring("replaceAll", UnaryOperator.class);

    /** A collection of the JDK whose forEach looks at its end whether the collection has changed, as its iterator does not. */
    private static boolean looksAtEnd(Object o) {
        String name = o.getClass().getName();
        return name.startsWith("java.util.HashMap") || name.startsWith("java.util.LinkedHashMap") || name.equals("java.util.TreeMap")
            || name.equals("java.util.IdentityHashMap") || name.equals("java.util.PriorityQueue");
    }

    /** Throws ConcurrentModificationException if the collection has changed since {@code early}, an iterator that was not used, was made. */
    private static void checkUnchanged(Iterator<?> early) {
        if (early != null) {
            early.next();
        }
    }

    private static Iterator<?> early(Object of, Iterable<?> i) {
        if (!looksAtEnd(of)) {
            return null;
        }
        Iterator<?> early = i.iterator();
        return early.hasNext() ? early : null;
    }

    /** {@code i.forEach(action)}. */
    public static <T> void forEach(Iterable<T> i, Consumer<? super T> action) {
        if (i.getClass() == ArrayList.class) {
            checked(action);
            ArrayList<T> list = (ArrayList<T>) i;
            int n = list.size();
            // A view's methods check that the list has not changed.
            List<T> view = list.subList(0, n);
            for (int k = 0; k < n; k++) {
                action.accept(view.get(k));
            }
            view.size();
            return;
        }
        if (!isPlain(i) && FOR_EACH.get(i.getClass()) != Iterable.class) {
            i.forEach(action);
            return;
        }
        checked(action);
        Iterator<?> early = early(i, i);
        for (T t : i) {
            action.accept(t);
        }
        checkUnchanged(early);
    }

    /** {@code m.forEach(action)}. */
    public static <K, V> void forEach(Map<K, V> m, BiConsumer<? super K, ? super V> action) {
        if (!isPlain(m) && FOR_EACH_ENTRY.get(m.getClass()) != Map.class) {
            m.forEach(action);
            return;
        }
        checked(action);
        Iterator<?> early = early(m, m.entrySet());
        for (Map.Entry<K, V> e : m.entrySet()) {
            action.accept(e.getKey(), e.getValue());
        }
        checkUnchanged(early);
    }

    /** {@code c.removeIf(filter)}. */
    public static <T> boolean removeIf(Collection<T> c, Predicate<? super T> filter) {
        if (c.getClass() == ArrayList.class) {
            return removeIf((ArrayList<T>) c, checked(filter));
        }
        if (REMOVE_IF.get(c.getClass()) != Collection.class) {
            return c.removeIf(filter);
        }
        checked(filter);
        boolean removed = false;
        Iterator<T> i = c.iterator();
        while (i.hasNext()) {
            if (filter.test(i.next())) {
                i.remove();
                removed = true;
            }
        }
        return removed;
    }

    /** All are asked first; a filter that throws leaves the list as it was. */
    private static <T> boolean removeIf(ArrayList<T> list, Predicate<? super T> filter) {
        int n = list.size();
        List<T> view = list.subList(0, n);
        BitSet hits = new BitSet(n);
        for (int k = 0; k < n; k++) {
            if (filter.test(view.get(k))) {
                hits.set(k);
            }
        }
        view.size();
        if (hits.isEmpty()) {
            return false;
        }
        int[] at = new int[1];
        return list.removeIf(t -> hits.get(at[0]++));
    }

    /** {@code l.replaceAll(operator)}. */
    public static <T> void replaceAll(List<T> l, UnaryOperator<T> operator) {
        if (l.getClass() == ArrayList.class) {
            checked(operator);
            int n = l.size();
            List<T> view = l.subList(0, n);
            for (int k = 0; k < n; k++) {
                view.set(k, operator.apply(view.get(k)));
            }
            view.size();
        } else if (REPLACE_ALL.get(l.getClass()) != List.class) {
            l.replaceAll(operator);
        } else {
            checked(operator);
            ListIterator<T> i = l.listIterator();
            while (i.hasNext()) {
                i.set(operator.apply(i.next()));
            }
        }
    }

    /** Maps whose methods are known: what they do while the function runs is look whether the map changes. */
    private static boolean isKnown(Map<?, ?> m) {
        Class<?> c = m.getClass();
        return c == HashMap.class || c == java.util.LinkedHashMap.class || c == java.util.TreeMap.class;
    }

    /** {@code m.merge(key, value, function)}. */
    public static <K, V> V merge(Map<K, V> m, K key, V value, BiFunction<? super V, ? super V, ? extends V> function) {
        if (!isKnown(m)) {
            return m.merge(key, value, function);
        }
        checked(function);
        if (value == null) {
            throw new NullPointerException("the value is null");
        }
        V old = m.get(key);
        if (old == null) {
            m.put(key, value);
            return value;
        }
        Iterator<?> early = early(m, m.entrySet());
        V made = function.apply(old, value);
        checkUnchanged(early);
        return changed(m, key, made);
    }

    /** {@code m.compute(key, function)}. */
    public static <K, V> V compute(Map<K, V> m, K key, BiFunction<? super K, ? super V, ? extends V> function) {
        if (!isKnown(m)) {
            return m.compute(key, function);
        }
        checked(function);
        V old = m.get(key);
        int size = m.size();
        Iterator<?> early = early(m, m.entrySet());
        V made = function.apply(key, old);
        checkUnchanged(early);
        checkSize(m, size, "compute");
        return changed(m, key, made);
    }

    /** {@code m.computeIfPresent(key, function)}. */
    public static <K, V> V computeIfPresent(Map<K, V> m, K key, BiFunction<? super K, ? super V, ? extends V> function) {
        if (!isKnown(m)) {
            return m.computeIfPresent(key, function);
        }
        checked(function);
        V old = m.get(key);
        if (old == null) {
            return null;
        }
        Iterator<?> early = early(m, m.entrySet());
        V made = function.apply(key, old);
        checkUnchanged(early);
        return changed(m, key, made);
    }

    private static <K, V> V changed(Map<K, V> m, K key, V made) {
        if (made == null) {
            m.remove(key);
        } else {
            m.put(key, made);
        }
        return made;
    }

    private static void checkSize(Map<?, ?> m, int size, String method) {
        if (m.size() != size) {
            throw new java.util.ConcurrentModificationException("the map has changed while the function of " + method + " ran");
        }
    }

    /** {@code m.replaceAll(function)}. */
    public static <K, V> void replaceAll(Map<K, V> m, BiFunction<? super K, ? super V, ? extends V> function) {
        if (!isKnown(m)) {
            m.replaceAll(function);
            return;
        }
        checked(function);
        Iterator<?> early = early(m, m.entrySet());
        for (Map.Entry<K, V> e : m.entrySet()) {
            e.setValue(function.apply(e.getKey(), e.getValue()));
        }
        checkUnchanged(early);
    }

    /** {@code m.computeIfAbsent(key, function)}. */
    public static <K, V> V computeIfAbsent(Map<K, V> m, K key, Function<? super K, ? extends V> function) {
        if (!isKnown(m)) {
            return m.computeIfAbsent(key, function);
        }
        checked(function);
        V old = m.get(key);
        if (old != null) {
            return old;
        }
        int size = m.size();
        V made = function.apply(key);
        checkSize(m, size, "computeIfAbsent");
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

    /** {@code o.filter(predicate)}. */
    public static <T> Optional<T> filter(Optional<T> o, Predicate<? super T> predicate) {
        checked(predicate);
        return !o.isPresent() || predicate.test(o.get()) ? o : Optional.empty();
    }

    /** {@code o.orElseThrow(supplier)}. */
    public static <T, X extends Throwable> T orElseThrow(Optional<T> o, Supplier<? extends X> supplier) throws X {
        if (o.isPresent()) {
            return o.get();
        }
        throw supplier.get();
    }

    /** {@code o.or(supplier)} of JDK 9 and later. */
    @SuppressWarnings("unchecked")
    public static <T> Optional<T> or(Optional<T> o, Supplier<? extends Optional<? extends T>> supplier) {
        checked(supplier);
        return o.isPresent() ? o : (Optional<T>) checked(supplier.get());
    }

    /** {@code o.ifPresentOrElse(action, otherwise)} of JDK 9 and later. */
    public static <T> void ifPresentOrElse(Optional<T> o, Consumer<? super T> action, Runnable otherwise) {
        if (o.isPresent()) {
            action.accept(o.get());
        } else {
            otherwise.run();
        }
    }

    private static <T> T checked(T function) {
        if (function == null) {
            throw new NullPointerException("the function is null");
        }
        return function;
    }
}
