package lamprey.instrument;

import java.util.ArrayList;
import java.util.List;

/** Stack traces of resumed threads, which show their callers although these are only saved frames. */
public final class Traces {
    private Traces() {}

    /** Completes the trace of an exception that leaves a resumed frame: twins get their method's name, the saved callers are added. */
    static void stitch(Throwable t, Frame caller) {
        // Written by the part of the runtime that owns traces.
    }

    /** The calls that the saved frames, innermost first, are in. */
    public static List<StackTraceElement> of(Frame innermost) {
        List<StackTraceElement> trace = new ArrayList<>();
        for (Frame f = innermost; f != null; f = f.caller) {
            trace.add(f.method().at(f.site));
        }
        return trace;
    }
}
