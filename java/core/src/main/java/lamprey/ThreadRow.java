package lamprey;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import lamprey.instrument.Frame;
import lamprey.instrument.MethodInfo;
import lamprey.instrument.Traces;

/** What a thread did at the moment when it was looked at. See {@link Inspect#threads()}. */
public final class ThreadRow {
    /** As many calls as an exception shows. */
    private static final int DEPTH = 1024;

    private final PicoThread thread;
    private final Thread.State state;
    private final WaitReason reason;
    private final String detail;
    private final List<PicoThread> holders;
    private final long waiting;
    private final boolean limited;
    private final Frame frames;
    private final boolean running;
    /** On which it ran; null if it did not. */
    private final Carrier carrier;

    private ThreadRow(PicoThread t, Carrier c) {
        thread = t;
        Blocker b = t.blocker;
        state = t.getState();
        reason = b == null ? null : b.reason();
        String more = b == null ? null : b.detail();
        detail = more == null ? null : Shown.plain(more);
        holders = b == null ? Collections.emptyList() : b.holders();
        waiting = b == null || b == Parking.PERMIT ? -1 : CoarseClock.since(b.since);
        limited = t.timer != null || b instanceof Timer;
        frames = b == null || t.kernel() != null ? null : t.savedFrames();
        carrier = b == null ? c : null;
        running = carrier != null || b == null && t.kernel() != null && state == Thread.State.RUNNABLE;
    }

    static List<ThreadRow> of(Collection<PicoThread> threads) {
        return of(threads, Collections.emptyMap());
    }

    /** @param running those that were seen running */
    static List<ThreadRow> of(Collection<PicoThread> threads, Map<PicoThread, Carrier> running) {
        List<ThreadRow> rows = new ArrayList<>(threads.size());
        for (PicoThread t : threads) {
            if (!t.hasEnded()) {
                rows.add(new ThreadRow(t, running.get(t)));
            }
        }
        return rows;
    }

    /** The thread. */
    public PicoThread thread() {
        return thread;
    }

    /** Its state. */
    public Thread.State state() {
        return state;
    }

    /** What it waits for; null if it does not wait. */
    public WaitReason reason() {
        return reason;
    }

    /** More about that, which lock for instance; null if nothing is known. What is not seen in names is escaped. */
    public String detail() {
        return detail;
    }

    /** The threads that must go on before this one can, as far as they are known: who has the lock, who is joined. */
    public List<PicoThread> holders() {
        return holders;
    }

    /** For how long it has waited, in nanoseconds, within a tenth of a second; negative if that is not known. */
    public long waitingNanos() {
        return waiting;
    }

    /** Whether the wait ends by itself after some time. */
    public boolean isLimited() {
        return limited;
    }

    /** The runtime that the thread belongs to; null if it is a kernel thread of the program's own. */
    public PicoRuntime runtime() {
        return thread.runtime;
    }

    /** Whether it was running; else it waits, or is ready. */
    public boolean isRunning() {
        return running;
    }

    /** The place of the carrier that ran it; negative if none did. */
    int carrier() {
        return carrier == null ? -1 : carrier.index;
    }

    /** Whether a kernel thread runs it, or a virtual one of the JVM. */
    public boolean isKernel() {
        return thread.kernel() != null;
    }

    /** The calls that it is in, the innermost first. Taken when this is called. */
    public StackTraceElement[] stack() {
        return frames == null ? ThreadDump.trace(thread) : Traces.of(frames).toArray(new StackTraceElement[0]);
    }

    /** The innermost call that is not the runtime's; null if it is not known. */
    public StackTraceElement place() {
        for (Frame f = frames; f != null; f = f.caller()) {
            if (!HeldStack.isOfTheRuntime(f.method().type.getName())) {
                return Traces.at(f);
            }
        }
        return null;
    }

    /** The call of the program that has started it, if the property {@code lamprey.sites} is {@code on}; null else, and if that is not known. */
    public StackTraceElement site() {
        LightThread.Details d = thread.details;
        return d == null ? null : d.site;
    }

    /** The outermost call, with which the thread began; null if it is not known. */
    public StackTraceElement entry() {
        Frame f = outermost();
        return f == null ? null : Traces.at(f);
    }

    /** Of those that are shown. */
    private Frame outermost() {
        Frame last = frames;
        int n = 0;
        for (Frame f = frames; f != null && n < DEPTH; f = f.caller()) {
            last = Traces.shows(f) ? f : last;
            n++;
        }
        return last;
    }

    /** What it has in common with those that wait in the same way: for the same, in the same call; with whole stacks, in the same calls. */
    List<Object> alike(boolean stacks) {
        List<Object> key = new ArrayList<>();
        Collections.addAll(key, state, isKernel(), running);
        key.add(reason);
        key.add(site());
        key.add(reason == WaitReason.MONITOR || reason == WaitReason.LOCK ? holders : null);
        if (frames == null) {
            key.addAll(stacks && isKernel() ? Arrays.asList(stack()) : Collections.emptyList());
            return key;
        }
        if (stacks) {
            int n = 0;
            for (Frame f = frames; f != null && n < DEPTH; f = f.caller()) {
                key.add(f.method());
                key.add(f.site);
                n++;
            }
        } else {
            Frame f = frames;
            while (f.caller() != null && HeldStack.isOfTheRuntime(f.method().type.getName())) {
                f = f.caller();
            }
            MethodInfo entry = outermost().method();
            Collections.addAll(key, f.method(), f.site, entry);
        }
        return key;
    }

    /** One line about it. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(thread.shown());
        text.append(isKernel() ? " kernel thread" : thread.daemon ? " daemon" : "").append(' ').append(state);
        if (reason != null) {
            text.append(", ").append(reason);
            if (detail != null) {
                text.append(": ").append(detail);
            }
            if (waiting >= 0) {
                text.append(", for ").append(seconds(waiting));
            }
        }
        return text.toString();
    }

    /** As "2.3 s". */
    static String seconds(long nanos) {
        long tenths = nanos / 100_000_000;
        return tenths / 10 + "." + tenths % 10 + " s";
    }
}
