package lamprey.concurrent;

import java.util.Collection;
import java.util.Iterator;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;

/** A {@link java.util.concurrent.DelayQueue} that suspends light threads and parks kernel threads. The methods do what those of the JDK do. */
public class DelayQueue<E extends Delayed> extends java.util.concurrent.DelayQueue<E> implements BlockingSide.Of<E> {
    private final BlockingSide<E> side = new BlockingSide<>();

    /** Empty. */
    public DelayQueue() {}

    /** With these elements. */
    public DelayQueue(Collection<? extends E> c) {
        addAll(c);
    }

    @Override
    public E tryTake() {
        return super.poll();
    }

    @Override
    public boolean tryPut(E e) {
        return super.offer(e);
    }

    /** The delay of the first element: then another attempt is made. */
    @Override
    public long readyIn() {
        E first = peek();
        return first == null ? Long.MAX_VALUE : Math.max(first.getDelay(TimeUnit.NANOSECONDS), 0);
    }

    @Override
    public void put(E e) {
        offer(e);
    }

    @Override
    public boolean offer(E e, long time, TimeUnit unit) {
        return offer(e);
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
    public Iterator<E> iterator() {
        return side.over(super.iterator());
    }
}
