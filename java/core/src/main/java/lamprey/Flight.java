package lamprey;

import java.lang.annotation.Annotation;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Events for the JDK's flight recorder: {@code lamprey.ThreadBlock} (a wait, from its beginning to its end), {@code lamprey.ThreadWake} (from the wake to the run that follows),
 * {@code lamprey.ThreadRun} (how long a thread ran without giving way), {@code lamprey.CarrierHeld} (as {@link HeldReport} tells it).
 *
 * <p>Whether any is recorded is looked at ten times a second, by the watch, so what happens in the first tenth of a recording is not in it. While none is, carriers read one field. The module
 * {@code jdk.jfr} is found by name, as JDK 8 need not have it: the events are made by {@code jdk.jfr.EventFactory}.
 */
final class Flight {
    /** Whether any event is recorded. Not volatile: who reads it late records, or does not record, a moment longer. */
    static boolean on;

    /** {@code FlightRecorder.isInitialized()}; null if there is no recorder. */
    private static final MethodHandle INITIALIZED = find("jdk.jfr.FlightRecorder", "isInitialized", boolean.class);
    private static volatile Kinds kinds;
    private static boolean asked;

    private Flight() {}

    private static MethodHandle find(String type, String name, Class<?> result) {
        try {
            return MethodHandles.publicLookup().findStatic(Class.forName(type), name, MethodType.methodType(result));
        } catch (ReflectiveOperationException | LinkageError e) {
            return null;
        }
    }

    /** Called by the watch. */
    static void look() {
        if (INITIALIZED == null) {
            return;
        }
        try {
            Kinds k = kinds;
            if (k != null) {
                on = k.block.isEnabled() || k.wake.isEnabled() || k.run.isEnabled();
            } else if (!asked && (boolean) INITIALIZED.invokeExact()) {
                asked = true;
                Blocking.execute(Flight::make);
            }
        } catch (Throwable e) {
            on = false;
        }
    }

    private static void make() {
        try {
            kinds = new Kinds();
        } catch (ReflectiveOperationException | LinkageError | RuntimeException e) {
            System.err.println("lamprey: no events are recorded: " + e);
        }
    }

    /** The kinds of events. */
    private static final class Kinds {
        final Kind block = new Kind("lamprey.ThreadBlock", "Light thread blocks", "10 ms", "thread", "threadId", "reason", "detail", "place");
        final Kind wake = new Kind("lamprey.ThreadWake", "Light thread is woken", "10 ms", "thread", "threadId", "waker");
        final Kind run = new Kind("lamprey.ThreadRun", "Light thread runs", "20 ms", "thread", "threadId");
        final Kind held = new Kind("lamprey.CarrierHeld", "Carrier is held", null, "thread", "threadId", "carrier", "report");

        Kinds() throws ReflectiveOperationException {}
    }

    /** One kind: all fields are texts, but for numbers whose name ends with Id. */
    private static final class Kind {
        private final Object factory;
        private final Object type;
        private final MethodHandle newEvent;
        private final MethodHandle enabled;
        private final MethodHandle begin;
        private final MethodHandle end;
        private final MethodHandle shouldCommit;
        private final MethodHandle commit;
        private final MethodHandle set;

        Kind(String name, String label, String threshold, String... fields) throws ReflectiveOperationException {
            Class<?> maker = Class.forName("jdk.jfr.EventFactory");
            Class<?> event = Class.forName("jdk.jfr.Event");
            List<Object> about = new ArrayList<>(Arrays.asList(annotation("Name", name), annotation("Label", label), annotation("Category", new String[] {"PicoThreads"}),
                annotation("StackTrace", false)));
            if (threshold != null) {
                about.add(annotation("Threshold", threshold));
            }
            Constructor<?> field = Class.forName("jdk.jfr.ValueDescriptor").getConstructor(Class.class, String.class);
            List<Object> all = new ArrayList<>();
            for (String f : fields) {
                all.add(field.newInstance(f.endsWith("Id") ? long.class : String.class, f));
            }
            factory = maker.getMethod("create", List.class, List.class).invoke(null, about, all);
            type = maker.getMethod("getEventType").invoke(factory);
            MethodHandles.Lookup l = MethodHandles.publicLookup();
            newEvent = l.findVirtual(maker, "newEvent", MethodType.methodType(event));
            enabled = l.findVirtual(type.getClass(), "isEnabled", MethodType.methodType(boolean.class));
            begin = l.findVirtual(event, "begin", MethodType.methodType(void.class));
            end = l.findVirtual(event, "end", MethodType.methodType(void.class));
            shouldCommit = l.findVirtual(event, "shouldCommit", MethodType.methodType(boolean.class));
            commit = l.findVirtual(event, "commit", MethodType.methodType(void.class));
            set = l.findVirtual(event, "set", MethodType.methodType(void.class, int.class, Object.class));
        }

        private static Object annotation(String name, Object value) throws ReflectiveOperationException {
            Class<? extends Annotation> type = Class.forName("jdk.jfr." + name).asSubclass(Annotation.class);
            return Class.forName("jdk.jfr.AnnotationElement").getConstructor(Class.class, Object.class).newInstance(type, value);
        }

        boolean isEnabled() throws Throwable {
            return (boolean) enabled.invoke(type);
        }

        /** One that begins now; null if this kind is not recorded. */
        Event event() {
            try {
                if (isEnabled()) {
                    Object e = newEvent.invoke(factory);
                    begin.invoke(e);
                    return new Event(this, e);
                }
            } catch (Throwable e) {
                // Not recorded.
            }
            return null;
        }
    }

    /** An event that has begun. */
    static final class Event {
        private final Kind kind;
        private final Object event;
        /** What is known when it begins, and told when it ends. */
        private String begun;

        Event(Kind kind, Object event) {
            this.kind = kind;
            this.event = event;
        }

        /** Ends it. Returns whether it is to be recorded. */
        boolean ends() {
            try {
                kind.end.invoke(event);
                return (boolean) kind.shouldCommit.invoke(event);
            } catch (Throwable e) {
                return false;
            }
        }

        void commit(PicoThread t, String... others) {
            try {
                kind.set.invoke(event, 0, (Object) t.getName());
                kind.set.invoke(event, 1, (Object) t.threadId());
                for (int i = 0; i < others.length; i++) {
                    kind.set.invoke(event, i + 2, (Object) others[i]);
                }
                kind.commit.invoke(event);
            } catch (Throwable e) {
                // Not recorded.
            }
        }
    }

    // ---- The carrier's steps, called only while something is recorded. They call no code of the program.

    /** The thread is suspended, and nobody can wake it yet. */
    static void blocks(PicoThread t) {
        t.details().block = kinds.block.event();
    }

    /** Whoever calls has made the thread ready, or is about to. */
    static void wakes(LightThread t) {
        Event e = kinds.wake.event();
        if (e != null) {
            Carrier c = Carrier.running();
            e.begun = c != null ? c.running.getName() : Thread.currentThread().getName();
        }
        t.details().wake = e;
    }

    /** The thread is about to go on, after its wait. */
    static void resumes(PicoThread t, Blocker b) {
        LightThread.Details d = t.details;
        if (d == null) {
            return;
        }
        Event block = d.block;
        Event wake = d.wake;
        d.block = null;
        d.wake = null;
        if (block != null && b != null && block.ends()) {
            List<ThreadRow> row = ThreadRow.of(java.util.Collections.singletonList(t));
            StackTraceElement place = row.isEmpty() ? null : row.get(0).place();
            block.commit(t, b.reason().toString(), row.isEmpty() ? null : row.get(0).detail(), place == null ? null : place.toString());
        }
        if (wake != null && wake.ends()) {
            wake.commit(t, wake.begun);
        }
    }

    /** The thread begins to run; null if that is not recorded. */
    static Event runs() {
        return kinds.run.event();
    }

    /** It has stopped. */
    static void ran(Event run, PicoThread t) {
        if (run.ends()) {
            run.commit(t);
        }
    }

    /** A carrier is held. By any thread, at any time. */
    static void held(Carrier c, PicoThread t, String report) {
        Kinds k = kinds;
        Event e = k == null ? null : k.held.event();
        if (e != null && e.ends()) {
            e.commit(t, c.getName(), report);
        }
    }
}
