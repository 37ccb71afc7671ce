package lamprey;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What an {@link InspectServer} answers: the same as Lamprey's. */
final class InspectRoutes {
    private static final String API = "/api/v1/";
    private static final String THREAD = API + "thread/";
    /** What Lamprey answers and this does not, and why. The page does not ask for what is named in the summary. */
    private static final Map<String, String> UNTOLD = new LinkedHashMap<>();

    /** What the paths can be asked for. */
    private static final Map<String, List<String>> PARAMETERS = new HashMap<>();

    static {
        PARAMETERS.put(API + "groups", Collections.singletonList("stacks"));
        PARAMETERS.put(API + "threads", InspectRows.PARAMETERS);
        UNTOLD.put("recording", "The recorder of a JVM is JFR: `jcmd PID JFR.start` (java/README.md says which events there are).");
        UNTOLD.put("stacks", "Light threads of a JVM have no stacks: they take what their frames need.");
        UNTOLD.put("scopes", "Which threads belong to which scope is not kept for light threads of a JVM.");
        UNTOLD.put("metrics", "There are no metrics of light threads of a JVM.");
    }

    private InspectRoutes() {}

    static InspectAnswer answer(InspectRequest r) throws InspectRequest.Refused {
        if (r.path.startsWith(API) && !UNTOLD.containsKey(r.path.substring(API.length()))) {
            r.takes(r.path.startsWith(THREAD) ? Collections.singletonList("runtime") : PARAMETERS.getOrDefault(r.path, Collections.emptyList()));
        }
        switch (r.path) {
            case "/api/v1/summary":
                return InspectAnswer.of(summary());
            case "/api/v1/groups":
                return InspectAnswer.of(InspectRows.groups(r.value("stacks").equals("1")));
            case "/api/v1/threads":
                return InspectAnswer.of(InspectRows.threads(r));
            case "/api/v1/graph":
                return InspectAnswer.of(InspectGraph.of(Inspect.threads()));
            case "/api/v1/stuck":
                return InspectAnswer.of(stuck());
            case "/api/v1/dump":
                return InspectAnswer.text(200, Inspect.dump());
            default:
                String untold = r.path.startsWith(API) ? UNTOLD.get(r.path.substring(API.length())) : null;
                if (untold != null) {
                    throw new InspectRequest.Refused(404, untold);
                }
                return r.path.startsWith(THREAD) ? InspectAnswer.of(InspectRows.thread(r, THREAD.length())) : InspectPage.answer(r.path, InspectPage.FOLDER);
        }
    }

    // ---- The summary.

    private static Json summary() {
        List<ThreadRow> rows = Inspect.threads();
        long[] states = new long[3];
        Map<WaitReason, Long> reasons = new EnumMap<>(WaitReason.class);
        for (ThreadRow r : rows) {
            states[InspectRows.state(r).ordinal()]++;
            if (r.reason() != null) {
                reasons.merge(r.reason(), 1L, Long::sum);
            }
        }
        Json j = new Json().begin('{').member("v", 1).member("system", "picothreads").member("version", InspectRoutes.class.getPackage().getImplementationVersion());
        j.member("program", System.getProperty("sun.java.command")).known("pid", Pid.OF_THIS).member("uptime_ns", System.nanoTime() - Inspect.START).member("now_unix_ms", System.currentTimeMillis());
        j.member("threads", rows.size()).member("hosts", rows.size()).member("parasites", 0);
        j.key("states").begin('{');
        for (InspectRows.State s : InspectRows.State.values()) {
            j.member(s.text(), states[s.ordinal()]);
        }
        j.end('}').key("reasons").begin('[');
        List<Map.Entry<WaitReason, Long>> most = new ArrayList<>(reasons.entrySet());
        most.sort(Map.Entry.comparingByValue(Comparator.reverseOrder()));
        for (Map.Entry<WaitReason, Long> e : most) {
            j.begin('{').member("reason", e.getKey().toString()).member("count", e.getValue()).end('}');
        }
        j.end(']').key("runtimes").begin('[');
        boolean first = true;
        for (PicoRuntime r : Inspect.runtimes()) {
            runtime(j, r, first);
            first = false;
        }
        j.end(']').key("untold").begin('{');
        UNTOLD.forEach(j::member);
        return j.end('}').end('}');
    }

    /** @param pools whether to tell of the pool that all runtimes share */
    private static void runtime(Json j, PicoRuntime r, boolean pools) {
        j.begin('{').member("id", r.number).key("workers").begin('[');
        for (Carrier c : r.crew.carriers()) {
            PicoThread t = c.running;
            j.begin('{').member("id", c.index).member("ready", c.queue.size()).key("running");
            if (t == null) {
                j.value(null).key("held_ns").value(null);
            } else {
                long held = c.seen.heldNanos(c.tick);
                j.begin('{').member("id", "" + t.threadId()).member("name", t.givenName()).end('}').known("held_ns", held > 0 ? held : -1);
            }
            j.end('}');
        }
        j.end(']').key("stats").begin('{').member("timers", r.timers.size()).member("carriers", r.crew.carriers().length).key("pools").begin('{');
        if (pools) {
            j.key("blocking").begin('{').member("threads", Blocking.threads()).member("idle", Blocking.idle()).member("queued", 0).end('}');
        }
        j.end('}').end('}').end('}');
    }

    /** The number of the process. A class of its own: asked once, and only if somebody looks. */
    private static final class Pid {
        static final long OF_THIS = find();

        private static long find() {
            try {
                return Long.parseLong(new File("/proc/self").getCanonicalFile().getName());
            } catch (IOException | NumberFormatException e) {
                String name = java.lang.management.ManagementFactory.getRuntimeMXBean().getName();
                return name.matches("\\d+@.*") ? Long.parseLong(name.substring(0, name.indexOf('@'))) : -1;
            }
        }
    }

    private static Json stuck() {
        Json j = new Json().begin('{').key("stuck").begin('[');
        for (List<ThreadRow> ring : Inspect.stuck()) {
            j.begin('{').member("class", "certain").member("text", Rings.text(ring)).end('}');
        }
        return j.end(']').end('}');
    }
}
