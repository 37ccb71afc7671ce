package lamprey;

import java.io.PrintStream;
import java.util.List;
import lamprey.instrument.Traces;

/** What all threads do, as text: those that wait in the same way are listed once. */
final class ThreadDump {
    private ThreadDump() {}

    static StackTraceElement[] trace(PicoThread t) {
        Thread k = t.kernel();
        if (k != null) {
            return k.getStackTrace();
        }
        Carrier c = Carrier.running();
        if (c != null && c.running == t) {
            return Traces.current();
        }
        List<StackTraceElement> calls = Traces.of(t.savedFrames());
        return calls.toArray(new StackTraceElement[0]);
    }

    static void print(PicoRuntime r, PrintStream out) {
        List<PicoThread> threads = r.threads();
        out.println(threads.size() + " threads that block or have blocked");
        String groups = Groups.of(ThreadRow.of(threads), true).text(false);
        if (!groups.isEmpty()) {
            out.println(groups);
        }
        for (Carrier c : r.crew.carriers()) {
            PicoThread t = c.running;
            out.println("carrier " + c.getName() + ": " + c.queue.size() + " ready, " + (t == null ? "runs none" : "runs " + t.shown()));
            if (t != null) {
                print(Traces.ofCarrier(c.getStackTrace()), out);
            }
        }
        int timers = r.timers.size();
        if (timers > 0) {
            out.println(timers + " timers");
        }
    }

    private static void print(StackTraceElement[] trace, PrintStream out) {
        for (StackTraceElement e : trace) {
            out.println("    at " + Shown.plain(e.toString()));
        }
    }
}
