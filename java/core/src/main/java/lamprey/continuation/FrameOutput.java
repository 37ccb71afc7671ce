package lamprey.continuation;

import java.io.IOException;
import java.io.NotSerializableException;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamException;
import java.io.OutputStream;
import java.io.Serializable;
import java.lang.reflect.Array;
import lamprey.instrument.Frame;

/**
 * Writes the objects of a continuation. What a reader would refuse is refused here, while the continuation can still be run.
 *
 * <p>An object stream writes an exception that ends its writing into the stream itself. The first refusal is therefore kept in {@link #refusal}, and
 * nothing is checked after it.
 */
final class FrameOutput extends ObjectOutputStream {
    private final AllowList allowed;
    private final Limits limits;
    /** What is being written, for messages. */
    private String holder = "the value that was handed out";
    private ObjectStreamException refusal;

    FrameOutput(OutputStream out, AllowList allowed, Limits limits) throws IOException {
        super(out);
        this.allowed = allowed;
        this.limits = limits;
        enableReplaceObject(true);
    }

    void writeFrame(Frame f) throws IOException {
        holder = "a local variable or operand of " + f.method().at(f.site);
        writeChecked(f);
    }

    void writeChecked(Object o) throws IOException {
        try {
            writeObject(o);
        } catch (IOException e) {
            throw refusal != null ? refusal : e;
        }
    }

    private ObjectStreamException refuse(ObjectStreamException e) {
        refusal = e;
        return e;
    }

    @Override
    protected Object replaceObject(Object o) throws IOException {
        if (refusal != null) {
            return o;
        }
        if (!(o instanceof Serializable)) {
            throw refuse(new NotSerializableException(o.getClass().getName() + ": it is reached from " + holder
                + ", and is not Serializable. Let it go before suspend, or make its class Serializable"));
        }
        if (o.getClass().isArray() && Array.getLength(o) > limits.arrayLength) {
            throw refuse(new RefusedException(RefusedException.Reason.LIMIT, "an array of " + Array.getLength(o) + " elements is reached from " + holder
                + "; the limit is " + limits.arrayLength));
        }
        return o;
    }

    @Override
    protected void annotateClass(Class<?> c) throws IOException {
        if (refusal != null) {
            return;
        }
        try {
            allowed.check(c.getName());
        } catch (RefusedException e) {
            throw refuse(new RefusedException(e.reason(), e.getMessage() + " (it is reached from " + holder + ")"));
        }
    }

    @Override
    protected void annotateProxyClass(Class<?> c) throws IOException {
        throw refuse(new RefusedException(RefusedException.Reason.NOT_ALLOWED, "a proxy of " + c.getInterfaces()[0].getName() + " is reached from " + holder
            + "; proxies are never allowed"));
    }
}
