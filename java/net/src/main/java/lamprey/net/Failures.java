package lamprey.net;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.nio.channels.ClosedChannelException;

/** Exceptions of channels, as sockets have them. */
final class Failures {
    private Failures() {}

    static SocketException socket(IOException e) {
        if (e instanceof SocketException) {
            return (SocketException) e;
        }
        String message = e.getMessage();
        if (e instanceof ClosedChannelException) {
            message = "Socket closed";
        } else if (message != null && message.startsWith("Connection reset")) {
            message = "Connection reset";
        }
        SocketException s = new SocketException(message);
        s.initCause(e);
        return s;
    }

    /** With the same message. */
    static SocketException asSaid(IOException e) {
        if (e instanceof SocketException) {
            return (SocketException) e;
        }
        SocketException s = new SocketException(e.getMessage());
        s.initCause(e);
        return s;
    }

    static IOException connect(IOException e, boolean closed) {
        if (closed && e instanceof ClosedChannelException) {
            return Registration.closed();
        }
        return e instanceof InterruptedIOException || e instanceof SocketException ? e : socket(e);
    }

}
