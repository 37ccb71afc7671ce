package lamprey.continuation;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.List;
import lamprey.PicoThread;
import lamprey.instrument.Frame;
import lamprey.instrument.Monitors;

/**
 * Refuses to write a continuation whose methods hold locks: they are owned by a thread of this JVM, and whoever goes on with the continuation could not
 * leave them.
 *
 * <p>A method in a {@code synchronized} block needs the lock's object to leave it, so the object is in a field of its frame; of a {@code static synchronized}
 * method it is the class. An object that the same thread has locked elsewhere is refused too, if a frame refers to it.
 */
final class HeldLocks {
    private HeldLocks() {}

    static void check(List<Frame> frames, PicoThread runner) {
        for (Frame f : frames) {
            check(f, f.method().type, runner);
            for (Class<?> c = f.getClass(); c != Frame.class; c = c.getSuperclass()) {
                for (Field field : c.getDeclaredFields()) {
                    if (!Modifier.isStatic(field.getModifiers()) && !field.getType().isPrimitive()) {
                        check(f, value(field, f), runner);
                    }
                }
            }
        }
    }

    private static Object value(Field field, Frame f) {
        try {
            field.setAccessible(true);
            return field.get(f);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException("write: the field " + field + " of a frame cannot be read", e);
        }
    }

    private static void check(Frame f, Object held, PicoThread runner) {
        if (held != null && Monitors.ownerOf(held) == runner) {
            throw new IllegalStateException("write: " + f.method().at(f.site) + " holds the lock of " + (held instanceof Class ? "" : "an object of ")
                + (held instanceof Class ? held : held.getClass()) + "; leave synchronized before suspend");
        }
    }
}
