package lamprey.concurrent;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import lamprey.PicoRuntime;
import lamprey.PicoThread;
import lamprey.WaitReason;

/**
 * A {@link java.util.concurrent.Phaser} that suspends light threads and parks kernel threads. The methods do what those of the JDK do.
 *
 * <p>The JDK's class counts; this one waits, in a list at the root. Whatever may have advanced the phase is followed by a look at it. An arrival cannot be
 * taken back: {@link #arriveAndAwaitAdvance} by a thread that cannot be suspended ({@link lamprey.instrument.PinnedError}) has arrived.
 */
public class Phaser extends java.util.concurrent.Phaser {
    private final WaitList waiting;

    /** Without parties. */
    public Phaser() {
        this(null, 0);
    }

    /** With this many parties. */
    public Phaser(int parties) {
        this(null, parties);
    }

    /** A child of {@code parent}. */
    public Phaser(java.util.concurrent.Phaser parent) {
        this(parent, 0);
    }

    /** A child of {@code parent}, with this many parties. */
    public Phaser(java.util.concurrent.Phaser parent, int parties) {
        super(checked(parent), parties);
        waiting = parent == null ? new WaitList(WaitReason.LOCK) : ((Phaser) parent).waiting;
    }

    private static java.util.concurrent.Phaser checked(java.util.concurrent.Phaser parent) {
        if (parent != null && !(parent instanceof Phaser)) {
            throw new IllegalArgumentException("the parent of a Phaser of light threads is " + parent.getClass().getName() + ", not one of " + Phaser.class.getName());
        }
        return parent;
    }

    /** After an arrival in {@code phase}. */
    private int advanced(int phase) {
        if (getPhase() != phase) {
            waiting.signalAll();
        }
        return phase;
    }

    @Override
    public int arrive() {
        return advanced(super.arrive());
    }

    @Override
    public int arriveAndDeregister() {
        return advanced(super.arriveAndDeregister());
    }

    @Override
    public void forceTermination() {
        super.forceTermination();
        waiting.signalAll();
    }

    @Override
    public int arriveAndAwaitAdvance() {
        return awaitAdvance(arrive());
    }

    @Override
    public int awaitAdvance(int phase) {
        boolean interrupted = false;
        try {
            for (;;) {
                try {
                    return await(phase, Long.MAX_VALUE);
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (TimeoutException e) {
                    throw new AssertionError(e);
                }
            }
        } finally {
            if (interrupted) {
                PicoThread.currentThread().interrupt();
            }
        }
    }

    @Override
    public int awaitAdvanceInterruptibly(int phase) throws InterruptedException {
        try {
            return await(phase, Long.MAX_VALUE);
        } catch (TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public int awaitAdvanceInterruptibly(int phase, long time, TimeUnit unit) throws InterruptedException, TimeoutException {
        return await(phase, unit.toNanos(time));
    }

    private int await(int phase, long nanos) throws InterruptedException, TimeoutException {
        if (phase < 0) {
            return phase;
        }
        boolean timed = nanos != Long.MAX_VALUE;
        long deadline = timed ? PicoRuntime.moment(nanos) : 0;
        while (getPhase() == phase) {
            long left = timed ? deadline - PicoRuntime.nanoTime() : Long.MAX_VALUE;
            if (left <= 0) {
                throw new TimeoutException();
            }
            WaitList.Ticket t = waiting.enter();
            if (getPhase() != phase) {
                waiting.leave(t);
                break;
            }
            waiting.await(t, left);
        }
        return getPhase();
    }
}
