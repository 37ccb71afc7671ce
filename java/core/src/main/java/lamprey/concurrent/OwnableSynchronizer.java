package lamprey.concurrent;

import java.io.Serializable;
import lamprey.PicoThread;

/** What {@link java.util.concurrent.locks.AbstractOwnableSynchronizer} is, for light threads: remembers the thread that owns it. */
public abstract class OwnableSynchronizer implements Serializable {
    private static final long serialVersionUID = 1;
    private transient PicoThread owner;

    /** For subclasses. */
    protected OwnableSynchronizer() {}

    /** Makes a thread, or none (null), the owner. */
    protected final void setExclusiveOwnerThread(PicoThread thread) {
        owner = thread;
    }

    /** The owner; null if there is none. */
    protected final PicoThread getExclusiveOwnerThread() {
        return owner;
    }
}
