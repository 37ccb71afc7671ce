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
        PicoThread t = PicoThread.currentThread();
        Locals l = t.locals;
        if (l != null && l.has(key)) {
            return (T) l.get(key);
        }
        T first = initialValue();
        set(first);
        return first;
    }

    @Override
    public void set(T value) {
        PicoThread t = PicoThread.currentThread();
        if (t.locals == null) {
            t.locals = new Locals();
        }
        t.locals.set(key, value);
    }

    @Override
    public void remove() {
        Locals l = PicoThread.currentThread().locals;
        if (l != null) {
            l.remove(key);
        }
    }
}
