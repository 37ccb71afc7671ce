package lamprey.dns;

import java.util.ArrayList;
import java.util.List;
import lamprey.Blocker;
import lamprey.Parking;
import lamprey.WaitReason;

/**
 * A question that is being asked by one thread, and others wait for. If the asking thread gives up, by an interrupt, say, the others get null and
 * one of them asks.
 */
final class Flight {
    private List<Wait> waits = new ArrayList<>();
    private Object outcome;

    private static final class Wait extends Blocker {
        @Override
        protected WaitReason reason() {
            return WaitReason.DNS;
        }
    }

    /** The outcome; null if it was given up, or there is none after so many nanoseconds. Blocks. */
    Object join(long nanos) throws InterruptedException {
        Wait w = new Wait();
        synchronized (this) {
            if (waits == null) {
                return outcome;
            }
            waits.add(w);
        }
        Object result = Parking.await(w, nanos);
        return result == Blocker.Cause.TIMEOUT ? null : result;
    }

    /** @param result null if it is given up */
    void land(Object result) {
        List<Wait> all;
        synchronized (this) {
            outcome = result;
            all = waits;
            waits = null;
        }
        for (Wait w : all) {
            w.deliver(result);
        }
    }
}
