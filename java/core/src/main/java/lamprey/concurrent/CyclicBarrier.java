package lamprey.concurrent;

import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import lamprey.PicoThread;
import lamprey.WaitReason;

/**
 * A {@link java.util.concurrent.CyclicBarrier} that suspends light threads and parks kernel threads. The methods do what those of the JDK do.
 *
 * <p><b>Who may touch what.</b> The fields, under the monitor of this object. The action of the barrier runs without it, while the generation is full and not yet
 * over: nobody else can change it then, but break it.
 */
public class CyclicBarrier extends java.util.concurrent.CyclicBarrier {
    private final int parties;
    private final Runnable action;
    private Generation current = new Generation();

    /** Those that meet at one time. */
    private final class Generation {
        /** A party that has arrived and cannot wait breaks the barrier, as one that is interrupted does. */
        @SuppressWarnings("serial")
        final WaitList waiting = new WaitList(WaitReason.LOCK) {
            @Override
            void lost() {
                breakIfOpen(Generation.this);
            }
        };
        int arrived;
        volatile boolean over;
        volatile boolean broken;
    }

    /** For this many threads. */
    public CyclicBarrier(int parties) {
        this(parties, null);
    }

    /** For this many threads; the last one runs {@code action} before any goes on. */
    public CyclicBarrier(int parties, Runnable action) {
        super(parties);
        this.parties = parties;
        this.action = action;
    }

    @Override
    public int await() throws InterruptedException, BrokenBarrierException {
        try {
            return await(Long.MAX_VALUE);
        } catch (TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public int await(long time, TimeUnit unit) throws InterruptedException, BrokenBarrierException, TimeoutException {
        return await(Math.max(unit.toNanos(time), 0));
    }

    private int await(long nanos) throws InterruptedException, BrokenBarrierException, TimeoutException {
        Generation g;
        int index;
        synchronized (this) {
            g = current;
            checkBroken(g);
            if (PicoThread.interrupted()) {
                end(g, true);
                throw new InterruptedException();
            }
            index = parties - ++g.arrived;
        }
        if (index == 0) {
            runAction(g);
            return 0;
        }
        long deadline = nanos == Long.MAX_VALUE ? 0 : lamprey.PicoRuntime.moment(nanos);
        while (!g.over) {
            WaitList.Ticket t = g.waiting.enter();
            if (g.over) {
                g.waiting.leave(t);
                break;
            }
            try {
                boolean inTime = g.waiting.await(t, nanos == Long.MAX_VALUE ? nanos : deadline - lamprey.PicoRuntime.nanoTime());
                if (!inTime && breakIfOpen(g)) {
                    throw new TimeoutException();
                }
            } catch (InterruptedException e) {
                if (breakIfOpen(g)) {
                    throw e;
                }
                PicoThread.currentThread().interrupt();
                break;
            }
        }
        checkBroken(g);
        return index;
    }

    private void runAction(Generation g) throws BrokenBarrierException {
        boolean done = false;
        try {
            if (action != null) {
                action.run();
            }
            done = true;
        } finally {
            synchronized (this) {
                if (!g.over) {
                    end(g, !done);
                }
            }
        }
        checkBroken(g);
    }

    private static void checkBroken(Generation g) throws BrokenBarrierException {
        if (g.broken) {
            throw new BrokenBarrierException();
        }
    }

    /** False if the generation was over. */
    private boolean breakIfOpen(Generation g) {
        synchronized (this) {
            if (g.over) {
                return false;
            }
            end(g, true);
            return true;
        }
    }

    /** Under the monitor. A barrier that is broken stays so until it is reset. */
    private void end(Generation g, boolean broken) {
        g.broken = broken;
        g.over = true;
        if (!broken) {
            current = new Generation();
        } else {
            g.arrived = 0;
        }
        g.waiting.signalAll();
    }

    @Override
    public boolean isBroken() {
        synchronized (this) {
            return current.broken;
        }
    }

    @Override
    public void reset() {
        synchronized (this) {
            if (!current.over) {
                end(current, true);
            }
            current = new Generation();
        }
    }

    @Override
    public int getNumberWaiting() {
        synchronized (this) {
            return current.arrived;
        }
    }

    @Override
    public int getParties() {
        return parties;
    }
}
