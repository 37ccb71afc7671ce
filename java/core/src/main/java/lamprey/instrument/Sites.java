package lamprey.instrument;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Where the program has started threads, and made what threads wait on (locks, channels, queues). Kept only if the property {@code lamprey.sites} is {@code on}, as looking at the stack takes microseconds;
 * objects are then found in a table, so that none has a field for it otherwise.
 */
public final class Sites {
    /** Whether they are kept. */
    public static final boolean ON = "on".equals(System.getProperty("lamprey.sites"));

    private static final Set<String> OF_THE_RUNTIME = new HashSet<>(Arrays.asList("lamprey", "lamprey.instrument", "lamprey.concurrent", "lamprey.channel", "lamprey.event", "lamprey.scope",
        "lamprey.continuation", "lamprey.net", "lamprey.io", "lamprey.dns"));
    /** Guarded by itself. */
    private static final Map<Key, StackTraceElement> MADE = new HashMap<>();
    private static final ReferenceQueue<Object> GONE = new ReferenceQueue<>();

    private Sites() {}

    /** The object itself, whatever its {@code equals} says. */
    private static final class Key extends WeakReference<Object> {
        private final int hash;

        Key(Object o, ReferenceQueue<Object> gone) {
            super(o, gone);
            hash = System.identityHashCode(o);
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(Object other) {
            Object mine = get();
            return other == this || mine != null && other instanceof Key && ((Key) other).get() == mine;
        }
    }

    /** Whether a class is the runtime's. */
    public static boolean isOfTheRuntime(String type) {
        return type.startsWith("lamprey.") && OF_THE_RUNTIME.contains(type.substring(0, type.lastIndexOf('.')));
    }

    /** The innermost call of the calling thread that is not the runtime's; null if there is none. */
    public static StackTraceElement here() {
        for (StackTraceElement e : Traces.current()) {
            if (!isOfTheRuntime(e.getClassName())) {
                return e;
            }
        }
        return null;
    }

    /** Notes that the calling thread makes {@code o}; if sites are kept. Calls no code of the program. */
    public static void made(Object o) {
        if (ON) {
            put(o, here());
        }
    }

    /** Notes that a wait is on {@code o}; if sites are kept. */
    public static void on(Object wait, Object o) {
        if (ON) {
            put(wait, of(o));
        }
    }

    private static void put(Object o, StackTraceElement site) {
        if (site == null) {
            return;
        }
        synchronized (MADE) {
            for (Reference<?> r = GONE.poll(); r != null; r = GONE.poll()) {
                MADE.remove(r);
            }
            MADE.put(new Key(o, GONE), site);
        }
    }

    private static StackTraceElement of(Object o) {
        synchronized (MADE) {
            return MADE.get(new Key(o, null));
        }
    }

    /** {@code before} and where {@code o} was made, as part of a text; empty if that is not known. */
    public static String text(String before, Object o) {
        StackTraceElement site = ON ? of(o) : null;
        return site == null ? "" : before + "made at " + site;
    }
}
