package lamprey.event;

/** The event that another one was not chosen. It happens once and stays so. */
final class Nack extends Port<Void> {
    private final Waiters waiters = new Waiters(this);
    private boolean happened;
    /** Only for the thread that synchronises. */
    boolean settled;

    void fire() {
        settled = true;
        synchronized (this) {
            happened = true;
            waiters.completeAll(null);
        }
    }

    @Override
    protected Waiters queue() {
        return waiters;
    }

    @Override
    protected Object poll(Choice self) {
        return happened ? null : NO;
    }
}
