package lamprey.net;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.Iterator;
import java.util.function.Consumer;

/** Selection that hands each ready key to a consumer: by the JDK's own method from 11 on, which spares it the set of keys, else by that set. */
final class Selecting {
    private static final MethodHandle SELECT = find("select", Consumer.class, long.class);
    private static final MethodHandle SELECT_NOW = find("selectNow", Consumer.class);

    private Selecting() {}

    private static MethodHandle find(String name, Class<?>... parameters) {
        try {
            return MethodHandles.publicLookup().findVirtual(Selector.class, name, MethodType.methodType(int.class, parameters));
        } catch (NoSuchMethodException | IllegalAccessException e) {
            return null;
        }
    }

    /** @param millis -1: does not wait; 0: no limit */
    static void select(Selector selector, Consumer<SelectionKey> action, long millis) throws IOException {
        if (SELECT == null || SELECT_NOW == null) {
            selectSet(selector, action, millis);
            return;
        }
        try {
            if (millis < 0) {
                int n = (int) SELECT_NOW.invokeExact(selector, action);
            } else {
                int n = (int) SELECT.invokeExact(selector, action, millis);
            }
        } catch (IOException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IOException(e);
        }
    }

    private static void selectSet(Selector selector, Consumer<SelectionKey> action, long millis) throws IOException {
        int n = millis < 0 ? selector.selectNow() : selector.select(millis);
        if (n > 0) {
            Iterator<SelectionKey> keys = selector.selectedKeys().iterator();
            while (keys.hasNext()) {
                SelectionKey key = keys.next();
                keys.remove();
                action.accept(key);
            }
        }
    }
}
