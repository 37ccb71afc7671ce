package lamprey.continuation;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.lang.reflect.Method;
import lamprey.instrument.Frame;
import lamprey.instrument.MethodInfo;

/**
 * What a serialised continuation says of one frame before the frame itself: class, method, code hash, call. It is compared with the code of this JVM
 * before any object is read.
 */
final class FrameRecord {
    private final String frameClass;
    private final String owner;
    private final String name;
    private final String desc;
    private final long hash;
    private final int site;
    /** The class of the frame in this JVM, once checked. */
    private Class<?> type;

    private FrameRecord(String frameClass, String owner, String name, String desc, long hash, int site) {
        this.frameClass = frameClass;
        this.owner = owner;
        this.name = name;
        this.desc = desc;
        this.hash = hash;
        this.site = site;
    }

    static FrameRecord of(Frame f) {
        MethodInfo m = f.method();
        return new FrameRecord(f.getClass().getName(), m.owner, m.name, m.desc, m.hash, f.site);
    }

    void write(DataOutput out) throws IOException {
        out.writeUTF(frameClass);
        out.writeUTF(owner);
        out.writeUTF(name);
        out.writeUTF(desc);
        out.writeLong(hash);
        out.writeInt(site);
    }

    static FrameRecord read(DataInput in) throws IOException {
        return new FrameRecord(in.readUTF(), in.readUTF(), in.readUTF(), in.readUTF(), in.readLong(), in.readInt());
    }

    private String method() {
        return owner.replace('/', '.') + "." + name + desc;
    }

    /** Throws unless this JVM has the method, with the code that the frame was saved by. */
    void check(AllowList allowed, ClassLoader loader) throws RefusedException {
        allowed.check(frameClass);
        if (frameClass.equals("lamprey.instrument.Reflection$Call")) {
            return;
        }
        try {
            type = Class.forName(frameClass, false, loader);
        } catch (ClassNotFoundException | LinkageError e) {
            throw changed("has no longer a frame class " + frameClass + " (" + e + ")");
        }
        if (!Frame.class.isAssignableFrom(type)) {
            throw new RefusedException(RefusedException.Reason.NOT_ALLOWED, frameClass + " is no class of frames");
        }
        MethodInfo now = info(type);
        if (!now.owner.equals(owner) || !now.name.equals(name) || !now.desc.equals(desc)) {
            throw changed("is no longer the method of " + frameClass + ", which belongs to " + now + now.desc);
        }
        if (now.hash != hash) {
            throw changed("has changed (its code hash was " + Long.toHexString(hash) + ", is " + Long.toHexString(now.hash) + ")");
        }
        if (site < 0 || site >= now.sites.length) {
            throw changed("has no call number " + site);
        }
    }

    private RefusedException changed(String how) {
        return new RefusedException(RefusedException.Reason.CHANGED, "since the continuation was written, " + method() + " " + how);
    }

    private MethodInfo info(Class<?> frame) throws RefusedException {
        try {
            Method info = frame.getDeclaredMethod("info");
            info.setAccessible(true);
            return (MethodInfo) info.invoke(null);
        } catch (ReflectiveOperationException | ClassCastException | LinkageError e) {
            throw changed("has a frame class " + frameClass + " that was not generated (" + e + ")");
        }
    }

    /** Whether the frame that was read is the one that this is of. */
    boolean describes(Frame f) {
        return f != null && f.site == site && (type == null ? f.getClass().getName().equals(frameClass) : f.getClass() == type);
    }
}
