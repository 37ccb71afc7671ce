package lamprey;

import java.net.URL;
import java.security.CodeSource;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import lamprey.instrument.Transformed;

/**
 * The messages about carriers that are held or kept, on {@code System.err}: once for each place. They are made and printed by a thread of {@link Blocking}'s pool, as loading classes and printing may block, and
 * the watch must not.
 */
final class HeldReport {
    private static final Set<String> PLACES = ConcurrentHashMap.newKeySet();
    /** More than so many places are not told of. */
    private static final int MOST = 1000;
    private static final int CALLERS = 12;
    private static final String SEE = " (java/README.md, \"What to know\")";

    private final PicoRuntime runtime;
    private final Carrier carrier;
    private final PicoThread thread;
    private final HeldStack stack;
    /** For how long it has been held, about so. */
    private final long nanos;
    private final boolean computes;

    private HeldReport(PicoRuntime runtime, Carrier carrier, PicoThread thread, HeldStack stack, long nanos, boolean computes) {
        this.nanos = nanos;
        this.computes = computes;
        this.runtime = runtime;
        this.carrier = carrier;
        this.thread = thread;
        this.stack = stack;
    }

    /** A carrier is held by a thread that waits. */
    static void of(PicoRuntime r, Carrier c, PicoThread t, HeldStack stack, long nanos) {
        new HeldReport(r, c, t, stack, nanos, false).print();
    }

    /** A carrier is kept by a thread that computes. */
    static void ofComputing(PicoRuntime r, Carrier c, PicoThread t, HeldStack stack, long nanos) {
        new HeldReport(r, c, t, stack, nanos, true).print();
    }

    private void print() {
        if (PLACES.size() < MOST && PLACES.add(computes ? "computes: " + stack.method() : stack.place())) {
            Blocking.execute(() -> {
                String text = text();
                System.err.println(text);
                Flight.held(carrier, thread, text);
            });
        }
    }

    /** All carriers are held, and no more may be added. */
    static void nothingRuns(PicoRuntime r) {
        if (r.virtual == null && PLACES.add("none left of " + r.crew.hashCode())) {
            Blocking.execute(() -> System.err.println("lamprey: all carriers are held by threads that wait in code that is not transformed, and no more may be added"
                + " (-Dlamprey.extraCarriers=" + r.crew.limit() + "): no other light thread runs until one of them comes back" + SEE));
        }
    }

    private String text() {
        StringBuilder text = new StringBuilder("lamprey: light thread ").append(thread.shown()).append(" has held the carrier ")
            .append(carrier.getName()).append(" for ").append(ThreadRow.seconds(nanos)).append(": ");
        StackTraceElement culprit = stack.culprit();
        if (computes) {
            text.append("it computes, and something is ready behind it. Threads take turns only where they wait: call Thread.yield() every millisecond or so, or compute in a kernel thread:"
                + " Blocking.call(() -> ..)").append(SEE);
        } else if (stack.isHeldWait()) {
            text.append("it waits in a static initialiser, ").append(show(stack.initialiser())).append(", which cannot be suspended. Who uses the class waits, too; this may be a deadlock.")
                .append(meanwhile()).append(" Do not wait in static initialisers").append(SEE);
        } else if (stack.waitsForClass()) {
            text.append(show(culprit)).append(" waits for a class that another thread initialises.").append(meanwhile()).append(" Do not wait in static initialisers").append(SEE);
        } else if (culprit != null && !isTransformed(find(culprit))) {
            text.append(show(culprit)).append(" of ").append(origin(find(culprit))).append(" is not transformed, and waits ").append(stack.waitsIn()).append('.').append(meanwhile())
                .append(" Transform that code, too, or let a kernel thread call it: Blocking.call(() -> ..)").append(SEE);
        } else {
            text.append("code of the JDK waits ").append(stack.waitsIn()).append(culprit == null ? "" : ", called by " + show(culprit)).append(", and cannot be suspended.").append(meanwhile())
                .append(" Use what can (lamprey.channel, java.net.Socket, java.util.concurrent), or let a kernel thread make the call: Blocking.call(() -> ..)").append(SEE);
        }
        StackTraceElement[] callers = stack.callers();
        for (int i = 0; i < callers.length && i < CALLERS; i++) {
            text.append("\n    at ").append(show(callers[i]));
        }
        return text.toString();
    }

    private String meanwhile() {
        if (runtime.virtual != null) {
            return " Nothing else of the simulation runs meanwhile. This is told by the real clock, so the same seed may come without this message.";
        }
        return runtime.crew.limit() == 0 ? " No carrier is added for it: the limit is 0."
            : " If no carrier is left, one is added, up to " + runtime.crew.limit() + " (-Dlamprey.extraCarriers).";
    }

    /** Without the names of loader and module. */
    private static String show(StackTraceElement e) {
        return Shown.plain(new StackTraceElement(e.getClassName(), e.getMethodName(), e.getFileName(), e.getLineNumber()).toString());
    }

    /** Null if no loader that is known here finds it. */
    private Class<?> find(StackTraceElement e) {
        ClassLoader[] loaders = {thread.getContextClassLoader(), HeldReport.class.getClassLoader(), thread.target == null ? null : thread.target.getClass().getClassLoader()};
        for (ClassLoader l : loaders) {
            try {
                return Class.forName(e.getClassName(), false, l);
            } catch (ClassNotFoundException | LinkageError | RuntimeException x) {
                // The next may.
            }
        }
        return null;
    }

    private static boolean isTransformed(Class<?> c) {
        try {
            return c != null && c.isAnnotationPresent(Transformed.class);
        } catch (RuntimeException | LinkageError e) {
            return false;
        }
    }

    private static String origin(Class<?> c) {
        try {
            CodeSource source = c == null ? null : c.getProtectionDomain().getCodeSource();
            URL from = source == null ? null : source.getLocation();
            return from == null ? "an unknown jar" : Shown.plain(from.getProtocol().equals("file") ? from.getPath() : from.toString());
        } catch (RuntimeException e) {
            return "an unknown jar";
        }
    }
}
