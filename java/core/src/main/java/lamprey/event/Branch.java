package lamprey.event;

/** One of the offers of a synchronisation: what it waits for, and what happens with the result. */
final class Branch extends Offer {
    /** Null for a timer. */
    final Port<?> port;
    /** What is around the base event, innermost first. */
    final Step path;
    /** Of a timer. */
    final long deadline;
    /** Of the current round: see {@link Sync}. */
    private Choice choice;
    private boolean queued;
    /** When it has won. */
    Object result;

    Branch(Port<?> port, Step path, long deadline) {
        super(null);
        this.port = port;
        this.path = path;
        this.deadline = deadline;
    }

    /** Communicates at once if that is possible. No offer of this thread is published. */
    boolean attempt() {
        Object v = port.attempt();
        if (v == Port.NO) {
            return false;
        }
        result = v;
        return true;
    }

    /** Communicates with somebody who waits, or waits. Returns with the choice decided, or this branch queued. */
    void publish(Choice c) {
        choice = c;
        Waiters queue = port.queue();
        for (int spins = 0; ; spins++) {
            synchronized (queue.lock) {
                if (!c.claim()) {
                    return;
                }
                Object v = port.poll(c);
                if (v == Port.NO) {
                    value = port.payload();
                    queue.add(this);
                    queued = true;
                    c.unclaim();
                    return;
                }
                if (v != Port.BUSY) {
                    result = v;
                    c.win(this);
                    port.settle();
                    return;
                }
                c.unclaim();
            }
            Backoff.pause(spins);
        }
    }

    /** Takes the offer back, after the choice was decided. */
    void withdraw() {
        if (queued) {
            queued = false;
            Waiters queue = port.queue();
            synchronized (queue.lock) {
                queue.remove(this);
            }
        }
    }

    @Override
    int tryComplete(Object result) {
        int answer = choice.tryCommit();
        if (answer == COMPLETED) {
            // Read by the own thread only, after the delivery.
            this.result = result;
            choice.deliver(this);
        }
        return answer;
    }

    @Override
    boolean isOf(Choice c) {
        return choice == c;
    }
}
