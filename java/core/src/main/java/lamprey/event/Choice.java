package lamprey.event;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import lamprey.Blocker;
import lamprey.Parking;
import lamprey.PicoThread;
import lamprey.WaitReason;
import lamprey.PicoRuntime;

/**
 * The decision of one thread between several offers. At most one of them is ever chosen, by the thread itself or by a peer.
 *
 * <p>The protocol is that of Reppy, Russo and Xiao, Parallel Concurrent ML (ICFP 2009).
 *
 * <p><b>States.</b>
 * <pre>
 * WAITING --claim (self)----------------> CLAIMED --unclaim (self)--> WAITING
 * WAITING --tryComplete (anybody)-------> SYNCHED, and the winner is delivered
 * CLAIMED --win (self)------------------> SYNCHED
 * WAITING --interrupt, time, pinned-----> SYNCHED, without a winner
 * </pre>
 *
 * <p><b>Invariants.</b>
 * <ol>
 * <li>A communication of two choices happens only if one of them is CLAIMED by its thread and the other goes from WAITING to SYNCHED, both while the
 *     lock of the channel is held. So both have decided, or neither.
 * <li>A thread that finds its peer CLAIMED gives up its own claim before it tries again: two threads that claim and find each other would wait for ever.
 * <li>No lock is taken while CLAIMED. So whoever waits for the end of a claim, with a lock held, waits for a bounded number of steps: a thread that is
 *     CLAIMED never waits for another ({@link Port#poll} answers {@link Port#BUSY}); one that waits ({@link Waiters#choose}) has decided.
 * <li>Who moves WAITING to SYNCHED delivers to the {@link Blocker}, exactly once.
 * </ol>
 *
 * <p><b>No wake is lost.</b> An offer is queued under the lock under which it was found that there is no peer, so a later peer sees it. Its thread may not
 * be waiting yet: the {@link Blocker} keeps the delivery.
 *
 * <p><b>Rejected.</b> Locks of all channels of a choice, in a global order: a choice of many pays for all even when the first is ready. Claiming before
 * the first attempt: an attempt is made with no offer published, so nobody can choose this thread meanwhile.
 */
public final class Choice extends Blocker {
    private static final AtomicIntegerFieldUpdater<Choice> STATE = AtomicIntegerFieldUpdater.newUpdater(Choice.class, "state");
    private static final int WAITING = 0;
    private static final int CLAIMED = 1;
    private static final int SYNCHED = 2;

    private final Sync sync;
    private volatile int state;
    /** What the own thread has chosen while it published; null if it waits. */
    private Branch won;

    Choice(Sync sync) {
        super(PicoThread.currentThread());
        this.sync = sync;
    }

    /** Only by the own thread. False if a peer has decided. */
    boolean claim() {
        return STATE.compareAndSet(this, WAITING, CLAIMED);
    }

    void unclaim() {
        state = WAITING;
    }

    /** The own thread decides, while it has a claim. */
    void win(Branch b) {
        won = b;
        state = SYNCHED;
    }

    boolean isOpen() {
        return state == WAITING;
    }

    /** A peer, or the own thread outside of a claim, decides. */
    int tryCommit() {
        switch (state) {
            case WAITING:
                return STATE.compareAndSet(this, WAITING, SYNCHED) ? Offer.COMPLETED : Offer.BUSY;
            case CLAIMED:
                return Offer.BUSY;
            default:
                return Offer.GONE;
        }
    }

    /** Waits for a decision; {@code timer}, if not null, is the branch that wins at its deadline. Blocks. */
    Branch await(Branch timer) throws InterruptedException {
        if (won != null) {
            return won;
        }
        if (timer == null) {
            return (Branch) Parking.await(this);
        }
        Object winner = Parking.await(this, Math.max(timer.deadline - PicoRuntime.nanoTime(), 0));
        return winner == Cause.TIMEOUT ? timer : (Branch) winner;
    }

    /** An interrupt or the time limit decides, if no peer has. While the thread waits it is not claimed. */
    @Override
    protected boolean withdraw(Cause cause) {
        return tryCommit() == Offer.COMPLETED;
    }

    @Override
    protected void abandoned() {
        sync.abandon(null);
    }

    /** The thread could not be suspended, and its frames are lost: what they would have done happens here. */
    @Override
    protected void refused(Object value) {
        sync.abandon((Branch) value);
    }

    @Override
    protected WaitReason reason() {
        return WaitReason.EVENT;
    }
}
