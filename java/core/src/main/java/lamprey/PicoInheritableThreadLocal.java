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
        Locals l = PicoThread.currentThread().locals;
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
