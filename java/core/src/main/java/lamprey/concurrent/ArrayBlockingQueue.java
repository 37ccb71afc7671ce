package lamprey.concurrent;

import java.util.Collection;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A {@link java.util.concurrent.ArrayBlockingQueue} that suspends light threads and parks kernel threads. The methods do what those of the JDK do. */
public class ArrayBlockingQueue<E> extends java.util.concurrent.ArrayBlockingQueue<E> implements BlockingSide.Of<E> {
    private static final long serialVersionUID = 1;
    private final BlockingSide<E> side = new BlockingSide<>();

    /** With this many places. */
    public ArrayBlockingQueue(int capacity) {
        super(capacity);
    }

    /** With this many places. Threads that wait are served in order, whether {@code fair} or not. */
    public ArrayBlockingQueue(int capacity, boolean fair) {
        super(capacity, fair);
    }

    /** With this many places, and these elements. */
    public ArrayBlockingQueue(int capacity, boolean fair, Collection<? extends E> c) {
        super(capacity, fair, c);
    }

    @Override
    public E tryTake() {
        return super.poll();
    }

    @Override
    public boolean tryPut(E e) {
        return super.offer(e);
    }

    @Override
    public void put(E e) throws InterruptedException {
        side.put(this, e);
    }

    @Override
    public boolean offer(E e, long time, TimeUnit unit) throws InterruptedException {
        return side.offer(this, e, unit.toNanos(time));
    }

    @Override
    public boolean offer(E e) {
        if (!super.offer(e)) {
            return false;
        }
        BlockingSide.added(side);
        return true;
    }

    @Override
    public boolean add(E e) {
        if (!offer(e)) {
            throw new IllegalStateException("the queue is full");
        }
        return true;
    }

    @Override
    public E take() throws InterruptedException {
        return side.take(this);
    }

    @Override
    public E poll(long time, TimeUnit unit) throws InterruptedException {
        return side.poll(this, unit.toNanos(time));
    }

    @Override
    public E poll() {
        E e = super.poll();
        if (e != null) {
            side.removed();
        }
        return e;
    }

    @Override
    public boolean remove(Object o) {
        boolean removed = super.remove(o);
        if (removed) {
            side.removed();
        }
        return removed;
    }

    @Override
    public void clear() {
        super.clear();
        side.allRemoved();
    }

    @Override
    public int drainTo(Collection<? super E> c) {
        return drainTo(c, Integer.MAX_VALUE);
    }

    @Override
    public int drainTo(Collection<? super E> c, int max) {
        int n = super.drainTo(c, max);
        side.allRemoved();
        return n;
    }

    @Override
    public boolean removeAll(Collection<?> c) {
        boolean changed = super.removeAll(c);
        side.allRemoved();
        return changed;
    }

    @Override
    public boolean retainAll(Collection<?> c) {
        boolean changed = super.retainAll(c);
        side.allRemoved();
        return changed;
    }

    @Override
    public boolean removeIf(Predicate<? super E> filter) {
        boolean changed = super.removeIf(filter);
        side.allRemoved();
        return changed;
    }

    @Override
    public Iterator<E> iterator() {
        return side.over(super.iterator());
    }
}
