package lamprey;

import java.util.function.Supplier;

/** A variable of which each light thread has its own copy; each kernel thread has one too. As {@link ThreadLocal}, which it can stand for. */
public class PicoThreadLocal<T> extends ThreadLocal<T> {
    private final Locals.Key key = new Locals.Key(this, false);

    /** One whose first value is {@link #initialValue()}. */
    public PicoThreadLocal() {}

    /** One whose first value {@code supplier} gives. */
    public static <S> ThreadLocal<S> withInitial(Supplier<? extends S> supplier) {
        if (supplier == null) {
            throw new NullPointerException("a supplier is needed for the first value");
        }
        return new PicoThreadLocal<S>() {
            @Override
            protected S initialValue() {
                return supplier.get();
            }
        };
    }

    @Override
    @SuppressWarnings("unchecked")
    public T get() {
        Object value = Locals.get(key);
        if (value != Locals.NONE) {
            return (T) value;
        }
        T first = initialValue();
        set(first);
        return first;
    }

    @Override
    public void set(T value) {
        Locals.put(key, value);
    }

    @Override
    public void remove() {
        Locals.remove(key);
    }
}
