package lamprey.continuation;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InvalidClassException;
import java.io.ObjectStreamException;
import javax.crypto.spec.SecretKeySpec;
import lamprey.instrument.Frame;

/**
 * Writes suspended continuations as bytes and reads them, also in another JVM with the same class files. Immutable; the methods that
 * set something return another codec. Safe for any number of threads.
 *
 * <pre>
 * ContinuationCodec codec = ContinuationCodec.withKey(key).allowFrames("com.example").allow(Order.class).ledger(FileLedger.open(path));
 * byte[] bytes = codec.encode(k);                        // k can no longer be run
 * Continuation&lt;Answer, Question&gt; k2 = codec.decode(bytes);   // once
 * </pre>
 *
 * <p><b>What is refused.</b> Frames are control flow: who can write them can make the program call what it likes. So {@link #decode} refuses, in this
 * order,
 * <ul>
 * <li>what is too large, or was not written with the key, or was changed: HMAC-SHA256 over all bytes, compared in constant time, before any object is
 *     read ({@code LIMIT}, {@code FORGED});
 * <li>frames of methods whose code is not the same: a hash of the code of each method ({@code CHANGED});
 * <li>classes that are not on the list of what is allowed; proxies and lambdas never are ({@code NOT_ALLOWED}); too many or too deeply nested objects;
 * <li>what has been read before: each writing has a random id of 128 bits, which the {@link Ledger} accepts once ({@code REPLAYED}). This is last, so a
 *     reading that fails does not use up the continuation.
 * </ul>
 * The bytes are not encrypted: who gets them can read what the variables hold.
 *
 * <p><b>What can be written.</b> A continuation that is suspended, whose variables and operands that are still needed, and all that these
 * refer to, are {@code Serializable} and allowed, and whose methods hold no locks. An iterator of a collection is not serialisable: a loop that suspends must count. What is written
 * is read back once before the continuation is used up, so whatever cannot be read is reported here, and the continuation can still be run.
 *
 * <p><b>Format</b>, version 1: see {@code Envelope} for the outer bytes. The payload is an object stream ({@code java.io.ObjectOutputStream}): the number of frames (int); for
 * each, outermost first, the frame's class, the method's class with slashes, name, descriptor (UTF), code hash (long), number of the call
 * (int); the value handed out (object); the frames (objects), in the same order.
 */
public final class ContinuationCodec {
    private static final int MIN_KEY = 32;

    private final SecretKeySpec key;
    private final AllowList allowed;
    private final Limits limits;
    private final Ledger ledger;
    private final ClassLoader loader;

    private ContinuationCodec(SecretKeySpec key, AllowList allowed, Limits limits, Ledger ledger, ClassLoader loader) {
        this.key = key;
        this.allowed = allowed;
        this.limits = limits;
        this.ledger = ledger;
        this.loader = loader;
    }

    /**
     * A codec that allows nothing but values of the JDK yet.
     *
     * @param key secret, random, at least 32 bytes; the array is copied
     */
    public static ContinuationCodec withKey(byte[] key) {
        if (key.length < MIN_KEY) {
            throw new IllegalArgumentException("the key has " + key.length + " bytes; it must have at least " + MIN_KEY + ", random ones");
        }
        return new ContinuationCodec(new SecretKeySpec(key, "HmacSHA256"), AllowList.VALUES, Limits.DEFAULT, Ledger.inMemory(), null);
    }

    /** Also allows frames of methods of the classes in this package and those below it; "" is the unnamed package alone. */
    public ContinuationCodec allowFrames(String packageName) {
        return new ContinuationCodec(key, allowed.withFrames(packageName), limits, ledger, loader);
    }

    /** Also allows objects of this class, and arrays of it; not of its subclasses. Serialisable superclasses need to be allowed as well. */
    public ContinuationCodec allow(Class<?> type) {
        return new ContinuationCodec(key, allowed.withClass(type.getName()), limits, ledger, loader);
    }

    /** Also allows objects of all classes in this package and those below it. */
    public ContinuationCodec allowPackage(String packageName) {
        return new ContinuationCodec(key, allowed.withPackage(packageName), limits, ledger, loader);
    }

    /** Where the ids of what was read are kept. Default: {@link Ledger#inMemory()}. */
    public ContinuationCodec ledger(Ledger shared) {
        return new ContinuationCodec(key, allowed, limits, shared, loader);
    }

    /** Where classes are looked for when reading. Default: the context class loader of the kernel thread. */
    public ContinuationCodec loader(ClassLoader classes) {
        return new ContinuationCodec(key, allowed, limits, ledger, classes);
    }

    /**
     * Other limits than 16 MiB, 500 deep, 1,048,576 elements, 1,000,000 objects.
     *
     * @throws IllegalArgumentException if one is not positive
     */
    public ContinuationCodec limits(int bytes, int depth, int arrayLength, int objects) {
        return new ContinuationCodec(key, allowed, new Limits(bytes, depth, arrayLength, objects), ledger, loader);
    }

    /**
     * Writes a suspended continuation, which is used up then. If this throws, it is as before.
     *
     * @throws IllegalStateException if it is not suspended, has been run or written, or one of its methods holds a lock
     * @throws java.io.NotSerializableException if a variable holds what cannot be written; the message names class, method and line
     * @throws RefusedException if what it holds would not be accepted by {@link #decode} of this codec
     */
    public byte[] encode(Continuation<?, ?> k) throws IOException {
        Frame[] frames = k.beginWriting();
        boolean written = false;
        try {
            byte[] payload = write(k.value(), frames);
            if (payload.length > limits.bytes) {
                throw new RefusedException(RefusedException.Reason.LIMIT, payload.length + " bytes of objects, the limit is " + limits.bytes);
            }
            read(payload, frames.length == 0 ? loader() : frames[frames.length - 1].method().type.getClassLoader());
            byte[] sealed = Envelope.seal(payload, key);
            written = true;
            return sealed;
        } finally {
            k.endWriting(written);
        }
    }

    /**
     * Reads a continuation: suspended as it was written.
     *
     * @throws RefusedException if one of the checks fails
     * @throws IOException if an object cannot be read, or the ledger does not work
     */
    public <I, O> Continuation<I, O> decode(byte[] bytes) throws IOException {
        Envelope envelope = Envelope.open(bytes, key, limits.bytes);
        Continuation<I, O> k = read(envelope.payload, loader());
        if (!ledger.accept(envelope.id)) {
            throw new RefusedException(RefusedException.Reason.REPLAYED, "continuation " + envelope.id + " has been read before");
        }
        return k;
    }

    private ClassLoader loader() {
        ClassLoader context = loader != null ? loader : Thread.currentThread().getContextClassLoader();
        return context != null ? context : ContinuationCodec.class.getClassLoader();
    }

    private byte[] write(Object value, Frame[] frames) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (FrameOutput out = new FrameOutput(bytes, allowed, limits)) {
            out.writeInt(frames.length);
            for (int i = frames.length - 1; i >= 0; i--) {
                FrameRecord.of(frames[i]).write(out);
            }
            out.writeChecked(value);
            for (int i = frames.length - 1; i >= 0; i--) {
                out.writeFrame(frames[i]);
            }
        } catch (StackOverflowError e) {
            throw new RefusedException(RefusedException.Reason.LIMIT, "the variables refer to objects that are nested too deeply to be written");
        }
        return bytes.toByteArray();
    }

    private <I, O> Continuation<I, O> read(byte[] payload, ClassLoader classes) throws IOException {
        Limits.Watch watch = new Limits.Watch();
        try (FrameInput in = new FrameInput(new ByteArrayInputStream(payload), allowed, classes)) {
            limits.apply(in, watch);
            FrameRecord[] records = readRecords(in, classes);
            Object value = in.readObject();
            Frame[] innermostFirst = new Frame[records.length];
            for (int i = 0; i < records.length; i++) {
                Object read = in.readObject();
                Frame frame = read instanceof Frame ? (Frame) read : null;
                if (!records[i].describes(frame)) {
                    throw new RefusedException(RefusedException.Reason.FORMAT, "a frame is not the one that is announced");
                }
                innermostFirst[records.length - 1 - i] = frame;
            }
            return new Continuation<>(new Delimited(innermostFirst), value, false);
        } catch (ObjectStreamException e) {
            throw explained(e, watch);
        } catch (ClassNotFoundException e) {
            throw new RefusedException(RefusedException.Reason.CHANGED, "a class is missing: " + e.getMessage());
        } catch (StackOverflowError e) {
            throw new RefusedException(RefusedException.Reason.LIMIT, "objects are nested too deeply");
        }
    }

    private FrameRecord[] readRecords(FrameInput in, ClassLoader classes) throws IOException {
        int count = in.readInt();
        if (count < 0 || count > limits.references) {
            throw new RefusedException(RefusedException.Reason.LIMIT, count + " frames");
        }
        FrameRecord[] records = new FrameRecord[count];
        for (int i = 0; i < count; i++) {
            records[i] = FrameRecord.read(in);
            records[i].check(allowed, classes);
        }
        return records;
    }

    private static ObjectStreamException explained(ObjectStreamException e, Limits.Watch watch) {
        if (watch.exceeded != null) {
            return new RefusedException(RefusedException.Reason.LIMIT, watch.exceeded);
        }
        if (e instanceof InvalidClassException) {
            return new RefusedException(RefusedException.Reason.CHANGED, "a class is not what was written: " + e.getMessage());
        }
        return e;
    }
}
