package lamprey.channel;

import lamprey.event.Port;

/** The result of an operation on something that is closed. */
final class Closed implements Port.Failure {
    static final Closed CHANNEL = new Closed("the channel is closed");
    static final Closed IVAR = new Closed("the IVar was closed without a value");

    private final String message;

    private Closed(String message) {
        this.message = message;
    }

    @Override
    public RuntimeException exception() {
        return new ClosedException(message);
    }
}
