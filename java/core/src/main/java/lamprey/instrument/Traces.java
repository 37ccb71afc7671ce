package lamprey.instrument;

import java.io.PrintStream;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * Stack traces of resumed threads, which show their callers although these are only saved frames.
 *
 * <p>The trace that the JVM makes in a resumed thread is {@code twins, resume() of the frame's class, Coroutine.run, scheduler}. To <em>complete</em>
 * it: twins get their method's name, what is not the program's is left out, and the saved callers follow. A trace that has been completed no
 * longer contains {@code Coroutine.run}; that is how it is recognised, so no trace is completed twice.
 *
 * <p>This happens when an exception leaves a resumed frame, at most once for each exception and run of a thread, and when the program looks at
 * a trace ({@link #printStackTrace}, {@link #getStackTrace}: calls of {@code Throwable}'s methods are rewritten to these). It costs some
 * microseconds; {@code -Dlamprey.traces=false} switches it off. An exception without a trace costs nothing.
 *
 * <p>An exception that another thread has made is left as it is: its trace shows where it was made. That it is another's is seen at the last
 * resumed frame, which must be of the same method as this thread's.
 */
public final class Traces {
    private static final boolean ENABLED = !"false".equals(System.getProperty("lamprey.traces"));
    private static final String COROUTINE = Coroutine.class.getName();
    private static final String UNWINDING = Unwinding.class.getName();
    private static final String EXECUTION = Execution.class.getName();
    private static final String SUSPEND = Suspend.class.getName();
    private static final String TWIN = "$pico";
    /** As many calls as the JVM shows, unless it is told otherwise. */
    private static final int DEPTH = 1024;
    private static final StackTraceElement[] EMPTY = {};

    private Traces() {}

    /**
     * Completes the trace of an exception that leaves a resumed frame, and of its causes.
     *
     * @param resumed the frame that it has left; null if it is the first run
     * @param caller the saved callers
     */
    static void stitch(Throwable t, Frame resumed, Frame caller) {
        if (ENABLED) {
            completeSafely(t, resumed == null ? null : resumed.getClass().getName(), resumed, caller);
        }
    }

    /** An exception's methods may be the program's: what they throw, or that they try to block, must not reach the runtime. */
    private static void completeSafely(Throwable t, String frameClass, Frame resumed, Frame caller) {
        try {
            completeAll(t, frameClass, resumed, caller, identities());
        } catch (Throwable thrown) {
            // The trace stays as the JVM has made it.
        }
        Suspend s = Execution.unwinding();
        if (s != null) {
            s.refuse("the completion of a stack trace", "a method of " + t.getClass().getName(), null);
        }
    }

    /** Completes the trace of an exception that a resumed frame returns, if it does return one: what is in the Resume may also be left from before. */
    static void returned(Throwable t, Frame resumed, Frame caller) {
        if (resumed.method().desc.endsWith(";")) {
            stitch(t, resumed, caller);
        }
    }

    /** Completes the trace of an exception that is in the hands of the running thread, and of its causes. Others' are left as they are. */
    public static void complete(Throwable t) {
        Coroutine running = running();
        if (ENABLED && running != null && t != null) {
            StackTraceElement[] here = new Throwable().getStackTrace();
            int bottom = bottom(here);
            if (bottom > 0) {
                String frame = isStart(here[bottom]) ? null : here[bottom - 1].getClassName();
                completeSafely(t, frame, null, running.top);
            }
        }
    }

    /** The calls that the running thread is in, the innermost first: {@code getStackTrace()} of the thread, its caller, .., then the saved callers. */
    public static StackTraceElement[] current() {
        StackTraceElement[] raw = new Throwable().getStackTrace();
        Coroutine running = running();
        List<StackTraceElement> trace = new ArrayList<>();
        int bottom = running == null ? -1 : bottom(raw);
        int top = 1;
        while (top < raw.length && raw[top].getClassName().equals("lamprey.ThreadDump")) {
            top++;
        }
        addRaw(trace, raw, top, bottom < 0 ? raw.length : bottom);
        if (bottom >= 0) {
            addSaved(trace, running.top);
            addRest(trace, raw, bottom);
        }
        return trace.toArray(EMPTY);
    }

    /** The trace of a carrier, without what runs the thread that it runs. The thread's saved callers are its own business and may change meanwhile. */
    public static StackTraceElement[] ofCarrier(StackTraceElement[] raw) {
        List<StackTraceElement> trace = new ArrayList<>();
        int bottom = bottom(raw);
        addRaw(trace, raw, 0, bottom < 0 ? raw.length : bottom);
        return trace.toArray(EMPTY);
    }

    /** The calls that the saved frames, innermost first, are in. */
    public static List<StackTraceElement> of(Frame innermost) {
        List<StackTraceElement> trace = new ArrayList<>();
        addSaved(trace, innermost);
        return trace;
    }

    /** Whether traces show the call that a saved frame is in. */
    public static boolean shows(Frame f) {
        return !isHidden(f.method().type.getName(), f.method().name);
    }

    /** The call that a saved frame is in. */
    public static StackTraceElement at(Frame f) {
        List<StackTraceElement> trace = new ArrayList<>(1);
        StackTraceElement e = f.method().at(f.site);
        add(trace, e);
        return trace.isEmpty() ? e : trace.get(0);
    }

    /**
     * Gives an exception that the runtime throws out of a blocking call the trace that it would have, had the suspended thread made it itself:
     * the blocking call, then the saved frames.
     *
     * @return the exception
     */
    public static <T extends Throwable> T thrownBy(T t, Frame innermost) {
        if (ENABLED && innermost != null) {
            List<StackTraceElement> trace = new ArrayList<>();
            Site blocking = innermost.method().sites[innermost.site];
            trace.add(new StackTraceElement(blocking.owner.replace('/', '.'), blocking.name, null, -1));
            addSaved(trace, innermost);
            t.setStackTrace(trace.toArray(EMPTY));
        }
        return t;
    }

    /**
     * Gives the error of a suspension that failed a trace that begins with the blocking call and the frames that had been saved. The calls from there to the place
     * that noticed are not known.
     *
     * @param primitive null if the frames begin with its own
     * @return the error
     */
    static PinnedError refused(PinnedError error, MethodInfo primitive, Frame innermost) {
        if (ENABLED) {
            StackTraceElement[] raw = error.getStackTrace();
            List<StackTraceElement> trace = new ArrayList<>(raw.length);
            if (primitive != null) {
                trace.add(primitive.at(0));
            }
            addSaved(trace, innermost);
            addBelowRuntime(trace, raw, 0);
            error.setStackTrace(trace.toArray(EMPTY));
        }
        return error;
    }

    /** Completes the trace of an exception that leaves a frame by {@link Unwinding}, and of its causes, up to the place that noticed that suspending fails. */
    static void unwound(Throwable t) {
        if (ENABLED) {
            try {
                unwoundAll(t, identities());
            } catch (Throwable thrown) {
                // The trace stays as the JVM has made it.
            }
        }
    }

    private static void unwoundAll(Throwable t, Set<Throwable> seen) {
        if (t == null || !seen.add(t)) {
            return;
        }
        StackTraceElement[] raw = t.getStackTrace();
        int end = 0;
        while (end < raw.length && !raw[end].getClassName().equals(UNWINDING)) {
            end++;
        }
        if (end > 0 && end < raw.length) {
            List<StackTraceElement> trace = new ArrayList<>(raw.length);
            addRaw(trace, raw, 0, end + 1);
            addBelowRuntime(trace, raw, end);
            t.setStackTrace(trace.toArray(EMPTY));
        }
        unwoundAll(t.getCause(), seen);
        for (Throwable s : t.getSuppressed()) {
            unwoundAll(s, seen);
        }
    }

    /** As they are, but for the first that are the runtime's. */
    private static void addBelowRuntime(List<StackTraceElement> trace, StackTraceElement[] raw, int from) {
        int i = from;
        while (i < raw.length && (isOfUnwinding(raw[i].getClassName()) || raw[i].getClassName().equals(EXECUTION))) {
            i++;
        }
        for (; i < raw.length; i++) {
            trace.add(raw[i]);
        }
    }

    private static boolean isOfUnwinding(String type) {
        return type.equals(UNWINDING) || type.equals(SUSPEND);
    }

    /** {@link Throwable#printStackTrace()}, completed. */
    public static void printStackTrace(Throwable t) {
        complete(t);
        t.printStackTrace();
    }

    /** {@link Throwable#printStackTrace(PrintStream)}, completed. */
    public static void printStackTrace(Throwable t, PrintStream out) {
        complete(t);
        t.printStackTrace(out);
    }

    /** {@link Throwable#printStackTrace(PrintWriter)}, completed. */
    public static void printStackTrace(Throwable t, PrintWriter out) {
        complete(t);
        t.printStackTrace(out);
    }

    /** {@link Throwable#getStackTrace()}, completed. */
    public static StackTraceElement[] getStackTrace(Throwable t) {
        complete(t);
        return t.getStackTrace();
    }

    /** Whether a call is of the runtime, not of the program, so that a trace leaves it out. */
    private static boolean isHidden(String type, String method) {
        if (method.equals("body")) {
            return type.equals("lamprey.LightThread") || type.equals("lamprey.PicoThread") || type.equals("lamprey.continuation.Delimited");
        }
        if (isOfUnwinding(type) || type.equals(COROUTINE)) {
            return true;
        }
        // The body that the transformer makes for a method reference, for which the JVM has no frame, and what calls the main method.
        return method.startsWith("lambda$pico$") || type.endsWith("$pico$main") || method.equals("resume") && isFrameClass(type);
    }

    private static boolean isFrameClass(String type) {
        int at = type.lastIndexOf(TWIN);
        return at > 0 && at + TWIN.length() < type.length() && Character.isDigit(type.charAt(at + TWIN.length()));
    }

    private static Set<Throwable> identities() {
        return Collections.newSetFromMap(new IdentityHashMap<Throwable, Boolean>(4));
    }

    private static Coroutine running() {
        Execution e = Execution.current();
        return e == null ? null : e.delimited != null ? e.delimited : e.current;
    }

    private static void completeAll(Throwable t, String frameClass, Frame resumed, Frame caller, Set<Throwable> seen) {
        if (t == null || !seen.add(t)) {
            return;
        }
        completeOne(t, frameClass, resumed, caller);
        completeAll(t.getCause(), frameClass, resumed, caller, seen);
        for (Throwable s : t.getSuppressed()) {
            completeAll(s, frameClass, resumed, caller, seen);
        }
    }

    private static void completeOne(Throwable t, String frameClass, Frame resumed, Frame caller) {
        StackTraceElement[] raw = t.getStackTrace();
        int bottom = bottom(raw);
        if (bottom < 1) {
            return;
        }
        String last = isStart(raw[bottom]) ? null : raw[bottom - 1].getClassName();
        List<StackTraceElement> trace = new ArrayList<>(raw.length);
        boolean byRuntime = COROUTINE.equals(last);
        if (!byRuntime && (frameClass == null ? last != null : !frameClass.equals(last))) {
            return;
        }
        addRaw(trace, raw, 0, bottom);
        if (!byRuntime && resumed != null && !isFrameClass(frameClass)) {
            trace.set(trace.size() - 1, resumed.method().at(resumed.site));
        }
        addSaved(trace, caller);
        addRest(trace, raw, bottom);
        t.setStackTrace(trace.toArray(EMPTY));
    }

    /** The index of the coroutine's innermost loop; -1 if there is none. */
    private static int bottom(StackTraceElement[] raw) {
        for (int i = 0; i < raw.length; i++) {
            if (raw[i].getClassName().equals(COROUTINE) && (raw[i].getMethodName().equals("run") || isStart(raw[i]))) {
                return i;
            }
        }
        return -1;
    }

    private static boolean isStart(StackTraceElement e) {
        return e.getMethodName().equals("start");
    }

    private static void addRaw(List<StackTraceElement> trace, StackTraceElement[] raw, int from, int to) {
        for (int i = from; i < to; i++) {
            if (i > 0 && raw[i].getClassName().equals(UNWINDING)) {
                addUnwound(trace, raw[i - 1]);
            }
            add(trace, raw[i]);
        }
    }

    /** The callers of the frame that is being unwound, whose last call is {@code last}. */
    private static void addUnwound(List<StackTraceElement> trace, StackTraceElement last) {
        Execution e = Execution.current();
        Frame f = e == null ? null : e.unwound;
        if (f != null && f.getClass().getName().equals(last.getClassName())) {
            addSaved(trace, f.caller);
        }
    }

    private static void addSaved(List<StackTraceElement> trace, Frame innermost) {
        for (Frame f = innermost; f != null && trace.size() < DEPTH; f = f.caller) {
            add(trace, f.method().at(f.site));
        }
    }

    /** What runs a continuation is the program's, too; what runs a thread is not. */
    private static void addRest(List<StackTraceElement> trace, StackTraceElement[] raw, int bottom) {
        int i = bottom;
        while (i < raw.length && raw[i].getClassName().equals(COROUTINE)) {
            i++;
        }
        if (i < raw.length && raw[i].getClassName().equals("lamprey.continuation.Delimited")) {
            addRaw(trace, raw, i + 1, raw.length);
        }
    }

    private static void add(List<StackTraceElement> trace, StackTraceElement e) {
        String method = e.getMethodName();
        if (isHidden(e.getClassName(), method)) {
            return;
        }
        if (method.endsWith(TWIN)) {
            method = method.substring(0, method.length() - TWIN.length());
            method = method.equals("new") ? "<init>" : method;
        }
        if (method.equals("main$pico$body")) {
            method = "main";
        }
        if (method.equals(e.getMethodName())) {
            trace.add(e);
            return;
        }
        trace.add(new StackTraceElement(e.getClassName(), method, e.getFileName(), e.getLineNumber()));
    }
}
