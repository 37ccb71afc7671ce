package lamprey.net;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import lamprey.Blocker;
import lamprey.Parking;
import lamprey.PicoThread;
import lamprey.WaitReason;
import lamprey.instrument.Execution;

/**
 * One channel and the threads that wait for it. "Try, and wait when it would block": {@link #await} returns when it is worth trying again.
 *
 * <p><b>States</b> of a direction: armed (the selector reports it) or not. Reading and accepting stay armed after a report, so that a connection
 * that is read in turn costs no system call for arming; a report that finds no waiter disarms, unless the light thread that was woken by the one
 * before is still in a queue ({@link #pending}). Writing and connecting are disarmed by each report, as a channel can be written to nearly always;
 * so is reading when a kernel thread was woken, as the selector would report again until that gets a processor.
 *
 * <p><b>Invariants.</b> While a waiter is in a list, its direction is armed, or the channel is closed and the list empty. Readiness is reported as long
 * as it lasts, so nothing is lost between a try and the wait.
 *
 * <p><b>Who may touch what.</b> All fields under this object's JVM monitor, held for a few instructions and around no call that blocks; but
 * {@link #pending} is cleared without it, by the thread that was woken: a report that comes at the same time is ignored once too often, and repeated.
 */
final class Registration {
    private static final int IN = SelectionKey.OP_READ | SelectionKey.OP_ACCEPT;
    private static final int OUT = SelectionKey.OP_WRITE | SelectionKey.OP_CONNECT;
    private static final Object CLOSED = "closed";

    private final SelectableChannel channel;
    private SelectionKey key;
    private int armed;
    private boolean queued;
    private boolean closed;
    private Waiter in;
    private Waiter out;
    /** A light thread was woken to read, and has not run since. */
    private volatile boolean pending;

    Registration(SelectableChannel channel) {
        this.channel = channel;
    }

    /** One wait of one thread for one direction. */
    private static final class Waiter extends Blocker {
        final Registration of;
        Waiter next;
        final byte op;
        final boolean light;
        /** Whether {@link Reactor#waiting} counts it. Only for the own thread. */
        boolean counted;

        Waiter(Registration of, int op, boolean light) {
            this.of = of;
            this.op = (byte) op;
            this.light = light;
        }

        void count() {
            Reactor.get().waiting.incrementAndGet();
            counted = true;
        }

        void discount() {
            if (counted) {
                counted = false;
                Reactor.get().waiting.decrementAndGet();
            }
        }

        /** The channel is ready, as it was; nothing has been read or written. */
        @Override
        protected void refused(Object value) {
            discount();
            if (light && value == null) {
                of.ran();
            }
        }

        @Override
        protected void abandoned() {
            discount();
        }

        @Override
        protected WaitReason reason() {
            return WaitReason.IO;
        }

        @Override
        protected String detail() {
            String what = op == SelectionKey.OP_READ ? "read" : op == SelectionKey.OP_WRITE ? "write" : op == SelectionKey.OP_ACCEPT ? "accept" : "connect";
            return what + " " + of.channel;
        }

        @Override
        protected boolean withdraw(Cause cause) {
            of.remove(this);
            return true;
        }
    }

    /** Whether the selector reports {@code op} already, so that waiting costs no system call. */
    synchronized boolean isArmed(int op) {
        return (armed & op) != 0;
    }

    /**
     * Waits until the channel may be ready. Blocks; an interrupt ends the wait with an {@link InterruptedIOException} and stays set.
     *
     * @param nanos {@link Long#MAX_VALUE} for no limit
     * @return false if the time is over
     * @throws SocketException if the channel is closed, before or meanwhile
     */
    boolean await(int op, long nanos) throws IOException {
        Execution e = Execution.current();
        boolean light = e != null && e.running() != null;
        Waiter w = new Waiter(this, op, light);
        if (light) {
            Ports.attach();
        }
        if (!add(w)) {
            throw closed();
        }
        w.count();
        if (!light) {
            Ports.startWait();
        }
        Object result;
        try {
            result = Parking.await(w, nanos);
        } catch (InterruptedException interrupt) {
            PicoThread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting: " + w.detail());
        } finally {
            w.discount();
            if (!light) {
                Ports.endWait();
            }
        }
        if (light && result == null) {
            ran();
        }
        if (result == CLOSED) {
            throw closed();
        }
        return result != Blocker.Cause.TIMEOUT;
    }

    /** The light thread that a report has woken runs. */
    private void ran() {
        pending = false;
        Reactor.get().woken.decrementAndGet();
    }

    static SocketException closed() {
        return new SocketException("Socket closed");
    }

    private synchronized boolean add(Waiter w) {
        if (closed) {
            return false;
        }
        if ((w.op & IN) != 0) {
            w.next = in;
            in = w;
        } else {
            w.next = out;
            out = w;
        }
        if ((armed & w.op) == 0) {
            arm(armed | w.op);
        }
        return true;
    }

    private void arm(int ops) {
        armed = ops;
        if (key != null) {
            if (key.isValid()) {
                key.interestOps(ops);
            }
            Reactor.get().changed();
        } else if (!queued) {
            queued = true;
            Reactor.get().register(this);
        }
    }

    /** By the leader of the reactor. */
    synchronized void register(Selector selector) throws IOException {
        if (closed) {
            return;
        }
        try {
            key = channel.register(selector, armed, this);
        } catch (ClosedChannelException e) {
            // Closed by a program that has got hold of the channel.
            Waiter all = takeAll();
            wake(all, CLOSED);
        }
    }

    /** By the leader of the reactor: {@code ops} are ready. */
    void ready(int ops) {
        Waiter readers = null;
        Waiter writers = null;
        synchronized (this) {
            int keep = armed;
            if ((ops & IN) != 0) {
                readers = in;
                in = null;
                if (readers == null ? !pending : !readers.light) {
                    keep &= ~IN;
                }
                if (readers != null && readers.light) {
                    pending = true;
                }
            }
            if ((ops & OUT) != 0) {
                writers = out;
                out = null;
                keep &= ~OUT;
            }
            if (keep != armed) {
                armed = keep;
                key.interestOps(keep);
            }
        }
        report(readers);
        report(writers);
    }

    private static void report(Waiter first) {
        Waiter w = first;
        while (w != null) {
            Waiter after = w.next;
            if (w.light) {
                Reactor.get().woken.incrementAndGet();
                if (!w.deliver(null)) {
                    // Interrupted, or out of time: it does not count as woken by this.
                    w.of.ran();
                }
            } else {
                w.deliver(null);
            }
            w = after;
        }
    }

    private static void wake(Waiter first, Object with) {
        Waiter w = first;
        while (w != null) {
            Waiter after = w.next;
            w.deliver(with);
            w = after;
        }
    }

    private synchronized void remove(Waiter w) {
        in = without(in, w);
        out = without(out, w);
    }

    private static Waiter without(Waiter list, Waiter w) {
        if (list == null) {
            return null;
        }
        if (list == w) {
            return w.next;
        }
        for (Waiter at = list; at.next != null; at = at.next) {
            if (at.next == w) {
                at.next = w.next;
                break;
            }
        }
        return list;
    }

    private synchronized Waiter takeAll() {
        closed = true;
        Waiter all = in;
        if (all == null) {
            all = out;
        } else {
            Waiter last = all;
            while (last.next != null) {
                last = last.next;
            }
            last.next = out;
        }
        in = out = null;
        return all;
    }

    synchronized boolean isClosed() {
        return closed;
    }

    /** Closes the channel; those who wait for it get a {@link SocketException}. Returns false if it was closed. */
    boolean close() throws IOException {
        boolean registered;
        Waiter all;
        synchronized (this) {
            if (closed) {
                return false;
            }
            all = takeAll();
            registered = key != null;
        }
        try {
            channel.close();
        } finally {
            wake(all, CLOSED);
            if (registered) {
                // The descriptor is given back by the next select.
                Reactor.get().changed();
            }
        }
        return true;
    }
}
