package lamprey;

/** A variable of which each thread has its own copy, which starts as that of the thread that made it. As {@link InheritableThreadLocal}, which it can stand for. */
public class PicoInheritableThreadLocal<T> extends InheritableThreadLocal<T> {
    private final Locals.Key key = new Locals.Key(this, true);

    /** One whose first value, in a thread that inherits none, is {@link #initialValue()}. */
    public PicoInheritableThreadLocal() {}

    @SuppressWarnings("unchecked")
    Object childOf(Object parentValue) {
        return childValue((T) parentValue);
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
