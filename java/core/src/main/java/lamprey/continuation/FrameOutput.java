package lamprey.continuation;

import java.io.IOException;
import java.io.NotSerializableException;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.lang.reflect.Array;
import lamprey.instrument.Frame;

/** Writes the objects of a continuation. What a reader would refuse is refused here, while the continuation can still be run. */
final class FrameOutput extends ObjectOutputStream {
    private final AllowList allowed;
    private final Limits limits;
    /** What is being written, for messages. */
    private String holder = "the value that was handed out";

    FrameOutput(OutputStream out, AllowList allowed, Limits limits) throws IOException {
        super(out);
        this.allowed = allowed;
        this.limits = limits;
        enableReplaceObject(true);
    }

    void writeFrame(Frame f) throws IOException {
        StackTraceElement at = f.method().at(f.site);
        holder = "a local variable or operand of " + at;
        writeObject(f);
    }

    @Override
    protected Object replaceObject(Object o) throws IOException {
        if (!(o instanceof Serializable)) {
            throw new NotSerializableException(o.getClass().getName() + ": it is reached from " + holder
                + ", and is not Serializable. Let it go before suspend, or make its class Serializable");
        }
        if (o.getClass().isArray() && Array.getLength(o) > limits.arrayLength) {
            throw new RefusedException(RefusedException.Reason.LIMIT, "an array of " + Array.getLength(o) + " elements is reached from " + holder
                + "; the limit is " + limits.arrayLength);
        }
        return o;
    }

    @Override
    protected void annotateClass(Class<?> c) throws IOException {
        try {
            allowed.check(c.getName());
        } catch (RefusedException e) {
            throw new RefusedException(e.reason(), e.getMessage() + " (it is reached from " + holder + ")");
        }
    }

    @Override
    protected void annotateProxyClass(Class<?> c) throws IOException {
        throw new RefusedException(RefusedException.Reason.NOT_ALLOWED, "a proxy of " + c.getInterfaces()[0].getName() + " is reached from " + holder
            + "; proxies are never allowed");
    }
}
