package lamprey.event;

import lamprey.Blocker;
import lamprey.Parking;
import lamprey.PicoThread;
import lamprey.WaitReason;
import lamprey.instrument.Sites;

/**
 * The offer of a thread that waits for one operation only: 32 bytes with compressed references. It has no state but the {@link lamprey.Blocker}'s:
 * delivering the result is choosing it. It is never claimed: its own thread looks for a partner before it is queued, and not after.
 */
public final class Single extends Offer {
    private Single(Object payload) {
        super(PicoThread.currentThread());
        value = payload;
    }

    /**
     * Queues an operation of the calling thread. Under the lock of the queue, after the operation was found to be impossible now.
     *
     * @param payload what the thread brings; for a receive, the port
     */
    public static Single enqueue(Waiters queue, Object payload) {
        Single s = new Single(payload);
        queue.add(s);
        Sites.on(s, queue);
        return s;
    }

    @Override
    int tryComplete(Object result) {
        return deliver(result) ? COMPLETED : GONE;
    }

    @Override
    boolean isOf(Choice choice) {
        return false;
    }

    @Override
    protected WaitReason reason() {
        return WaitReason.CHANNEL;
    }

    @Override
    protected String detail() {
        return (value instanceof Port ? "it receives" : "it sends") + Sites.text(", on what was ", this);
    }

    /** The thread could not be suspended: a value that came meanwhile goes back. */
    @Override
    protected void refused(Object result) {
        if (value instanceof Port) {
            ((Port<?>) value).giveBack(result);
        }
    }

    /**
     * Waits until a peer has completed it, for at most this time. Blocks; without the lock. An operation without a limit calls {@link Parking#await(Blocker)} itself, which
     * saves a frame, and {@link #leave} if that throws.
     *
     * @return the result, or {@link Port#NO} if the time is up and the operation has not happened
     * @throws InterruptedException if the thread is interrupted before a peer has chosen it; the operation has then not happened
     */
    public Object await(Waiters queue, long nanos) throws InterruptedException {
        try {
            Object result = Parking.await(this, nanos);
            if (result != Cause.TIMEOUT) {
                return result;
            }
            leave(queue);
            return Port.NO;
        } catch (InterruptedException e) {
            leave(queue);
            throw e;
        }
    }

    /** Takes it out of the queue, if no peer has completed it. Without the lock. */
    public void leave(Waiters queue) {
        synchronized (queue.lock) {
            queue.remove(this);
        }
    }
}
