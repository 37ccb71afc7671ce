package lamprey;

/** What a blocked thread waits for, as a dump shows it. */
public enum WaitReason {
    /** {@link Parking#park()}. */
    PARK("parked"),
    /** {@link PicoThread#sleep(long)}. */
    SLEEP("sleeping"),
    /** {@link PicoThread#join()}. */
    JOIN("joining a thread"),
    /** To enter a monitor. */
    MONITOR("entering a monitor"),
    /** {@code Object.wait()}. */
    OBJECT_WAIT("in Object.wait()"),
    /** An operation of a channel. */
    CHANNEL("on a channel"),
    /** A choice among events. */
    EVENT("on a choice of events"),
    /** A lock, semaphore, latch or barrier. */
    LOCK("on a lock"),
    /** To be signalled by a {@link java.util.concurrent.locks.Condition}. */
    CONDITION("on a condition"),
    /** A blocking queue. */
    QUEUE("on a queue"),
    /** The result of another computation. */
    FUTURE("on a future"),
    /** The end of a scope. */
    SCOPE("at the end of a scope"),
    /** A socket. */
    IO("on I/O"),
    /** A name server. */
    DNS("on a name server"),
    /** A call that blocks a kernel thread meanwhile. */
    BLOCKING_CALL("on a blocking call in a kernel thread"),
    /** Something else. */
    OTHER("blocked");

    private final String text;

    WaitReason(String text) {
        this.text = text;
    }

    @Override
    public String toString() {
        return text;
    }
}
