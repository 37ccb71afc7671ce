package lamprey.concurrent;

import java.io.Serializable;
import java.util.Collection;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A {@link java.util.concurrent.LinkedBlockingDeque} that suspends light threads and parks kernel threads. The methods do what those of the JDK do. */
public class LinkedBlockingDeque<E> extends java.util.concurrent.LinkedBlockingDeque<E> {
    private static final long serialVersionUID = 1;
    private final BlockingSide<E> side = new BlockingSide<>();
    private final AtHead head = new AtHead();
    private final AtTail tail = new AtTail();

    private final class AtHead implements BlockingSide.Of<E>, Serializable {
        private static final long serialVersionUID = 1;

        @Override
        public E tryTake() {
            return LinkedBlockingDeque.super.pollFirst();
        }

        @Override
        public boolean tryPut(E e) {
            return LinkedBlockingDeque.super.offerFirst(e);
        }
    }

    private final class AtTail implements BlockingSide.Of<E>, Serializable {
        private static final long serialVersionUID = 1;

        @Override
        public E tryTake() {
            return LinkedBlockingDeque.super.pollLast();
        }

        @Override
        public boolean tryPut(E e) {
            return LinkedBlockingDeque.super.offerLast(e);
        }
    }

    /** Without a limit. */
    public LinkedBlockingDeque() {}

    /** With this many places. */
    public LinkedBlockingDeque(int capacity) {
        super(capacity);
    }

    /** With these elements, without a limit. */
    public LinkedBlockingDeque(Collection<? extends E> c) {
        for (E e : c) {
            super.offerLast(e);
        }
    }

    private boolean added(boolean yes) {
        if (yes) {
            BlockingSide.added(side);
        }
        return yes;
    }

    private E removed(E e) {
        if (e != null) {
            side.removed();
        }
        return e;
    }

    private boolean changed(boolean yes) {
        side.allRemoved();
        return yes;
    }

    // ---- Insertion.

    @Override
    public boolean offerFirst(E e) {
        return added(super.offerFirst(e));
    }

    @Override
    public boolean offerLast(E e) {
        return added(super.offerLast(e));
    }

    @Override
    public void addFirst(E e) {
        if (!offerFirst(e)) {
            throw new IllegalStateException("the deque is full");
        }
    }

    @Override
    public void addLast(E e) {
        if (!offerLast(e)) {
            throw new IllegalStateException("the deque is full");
        }
    }

    @Override
    public boolean add(E e) {
        addLast(e);
        return true;
    }

    @Override
    public boolean offer(E e) {
        return offerLast(e);
    }

    @Override
    public void push(E e) {
        addFirst(e);
    }

    @Override
    public boolean addAll(Collection<? extends E> c) {
        if (c == this) {
            throw new IllegalArgumentException("a deque cannot be added to itself");
        }
        boolean any = false;
        for (E e : c) {
            any |= add(e);
        }
        return any;
    }

    @Override
    public void putFirst(E e) throws InterruptedException {
        side.put(head, e);
    }

    @Override
    public void putLast(E e) throws InterruptedException {
        side.put(tail, e);
    }

    @Override
    public void put(E e) throws InterruptedException {
        side.put(tail, e);
    }

    @Override
    public boolean offerFirst(E e, long time, TimeUnit unit) throws InterruptedException {
        return side.offer(head, e, unit.toNanos(time));
    }

    @Override
    public boolean offerLast(E e, long time, TimeUnit unit) throws InterruptedException {
        return side.offer(tail, e, unit.toNanos(time));
    }

    @Override
    public boolean offer(E e, long time, TimeUnit unit) throws InterruptedException {
        return side.offer(tail, e, unit.toNanos(time));
    }

    // ---- Removal.

    @Override
    public E pollFirst() {
        return removed(super.pollFirst());
    }

    @Override
    public E pollLast() {
        return removed(super.pollLast());
    }

    @Override
    public E poll() {
        return pollFirst();
    }

    @Override
    public E takeFirst() throws InterruptedException {
        return side.take(head);
    }

    @Override
    public E takeLast() throws InterruptedException {
        return side.take(tail);
    }

    @Override
    public E take() throws InterruptedException {
        return side.take(head);
    }

    @Override
    public E pollFirst(long time, TimeUnit unit) throws InterruptedException {
        return side.poll(head, unit.toNanos(time));
    }

    @Override
    public E pollLast(long time, TimeUnit unit) throws InterruptedException {
        return side.poll(tail, unit.toNanos(time));
    }

    @Override
    public E poll(long time, TimeUnit unit) throws InterruptedException {
        return side.poll(head, unit.toNanos(time));
    }

    @Override
    public boolean removeFirstOccurrence(Object o) {
        return changed(super.removeFirstOccurrence(o));
    }

    @Override
    public boolean removeLastOccurrence(Object o) {
        return changed(super.removeLastOccurrence(o));
    }

    @Override
    public boolean remove(Object o) {
        return removeFirstOccurrence(o);
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
    public void clear() {
        super.clear();
        side.allRemoved();
    }

    @Override
    public boolean removeAll(Collection<?> c) {
        return changed(super.removeAll(c));
    }

    @Override
    public boolean retainAll(Collection<?> c) {
        return changed(super.retainAll(c));
    }

    @Override
    public boolean removeIf(Predicate<? super E> filter) {
        return changed(super.removeIf(filter));
    }

    @Override
    public Iterator<E> iterator() {
        return side.over(super.iterator());
    }

    @Override
    public Iterator<E> descendingIterator() {
        return side.over(super.descendingIterator());
    }
}
