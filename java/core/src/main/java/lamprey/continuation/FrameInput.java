package lamprey.continuation;

import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectStreamClass;
import java.util.Arrays;
import lamprey.instrument.Frame;

/** Reads the objects of a continuation. A class is loaded only if the list allows its name. */
final class FrameInput extends ObjectInputStream {
    private final AllowList allowed;
    private final ClassLoader loader;

    FrameInput(InputStream in, AllowList allowed, ClassLoader loader) throws IOException {
        super(in);
        this.allowed = allowed;
        this.loader = loader;
    }

    @Override
    protected Class<?> resolveClass(ObjectStreamClass desc) throws IOException, ClassNotFoundException {
        String name = desc.getName();
        allowed.check(name);
        Class<?> c = Class.forName(name, false, loader);
        if (AllowList.isFrame(name) && !Frame.class.isAssignableFrom(c)) {
            throw new RefusedException(RefusedException.Reason.NOT_ALLOWED, name + " is no class of frames");
        }
        return c;
    }

    @Override
    protected Class<?> resolveProxyClass(String[] interfaces) throws IOException {
        throw new RefusedException(RefusedException.Reason.NOT_ALLOWED, "a proxy of " + Arrays.toString(interfaces));
    }
}
