package lamprey.net;

import lamprey.IoSource;

/** A runtime's access to the {@link Reactor}: what one of its carriers waits in, while it has nothing to run. */
final class Port implements IoSource {
    /** {@link #wakeup} has been called and not been seen. */
    volatile boolean woken;
    /** The kernel thread, while it is parked because another port's is in the selector. */
    volatile Thread parked;

    @Override
    public void poll(long nanos) {
        Reactor.get().poll(this, nanos);
    }

    @Override
    public void wakeup() {
        woken = true;
        Reactor.get().wake(this);
    }

    @Override
    public boolean isWaitedFor() {
        return Reactor.get().waiting.get() > 0;
    }
}
