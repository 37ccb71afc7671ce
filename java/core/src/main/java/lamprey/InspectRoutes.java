package lamprey;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What an {@link InspectServer} answers: the same as Lamprey's. */
final class InspectRoutes {
    private static final String JSON = "application/json";
    private static final String THREAD = "/api/v1/thread/";
    private static final String TEXT = "text/plain; charset=utf-8";
    /** Most groups that are told. */
    private static final int MOST_GROUPS = 1000;
    /** How many threads are told at a time, if nothing else is asked for, and at most. */
    private static final int LIMIT = 100;
    private static final int MOST_THREADS = 1000;

    private InspectRoutes() {}

    /** What is answered. */
    static final class Answer {
        final int status;
        final String kind;
        final byte[] body;

        Answer(int status, String kind, byte[] body) {
            this.status = status;
            this.kind = kind;
            this.body = body;
        }

        static Answer of(Json json) {
            return new Answer(200, JSON, json.toString().getBytes(StandardCharsets.UTF_8));
        }

        static Answer error(int status, String text) {
            return new Answer(status, JSON, new Json().begin('{').member("error", text).end('}').toString().getBytes(StandardCharsets.UTF_8));
        }
    }

    static Answer answer(InspectRequest r) throws InspectRequest.Refused {
        switch (r.path) {
            case "/api/v1/summary":
                return Answer.of(summary());
            case "/api/v1/groups":
                return Answer.of(groups(r.value("stacks").equals("1")));
            case "/api/v1/threads":
                return Answer.of(threads(r));
            case "/api/v1/graph":
                return Answer.of(InspectGraph.of(Inspect.threads()));
            case "/api/v1/stuck":
                return Answer.of(stuck());
            case "/api/v1/dump":
                return new Answer(200, TEXT, Inspect.dump().getBytes(StandardCharsets.UTF_8));
            case "/api/v1/recording":
                throw new InspectRequest.Refused(404, "the recorder of a JVM is JFR (jcmd PID JFR.start): see java/README.md for the events");
            case "/api/v1/stacks":
                throw new InspectRequest.Refused(404, "light threads of a JVM have no stacks: they take what their frames need");
            case "/api/v1/scopes":
            case "/api/v1/metrics":
                throw new InspectRequest.Refused(404, "PicoThreads do not tell this");
            default:
                return r.path.startsWith(THREAD) ? thread(r) : InspectPage.answer(r.path);
        }
    }

    // ---- The summary.

    private static Json summary() {
        List<ThreadRow> rows = Inspect.threads();
        long[] states = new long[3];
        Map<WaitReason, Long> reasons = new EnumMap<>(WaitReason.class);
        for (ThreadRow r : rows) {
            states[state(r).ordinal()]++;
            if (state(r) == State.WAITING) {
                reasons.merge(r.reason(), 1L, Long::sum);
            }
        }
        Json j = new Json().begin('{').member("v", 1).member("system", "picothreads").member("version", InspectRoutes.class.getPackage().getImplementationVersion());
        j.member("program", System.getProperty("sun.java.command")).known("pid", Pid.OF_THIS).member("uptime_ns", System.nanoTime() - Inspect.START).member("now_unix_ms", System.currentTimeMillis());
        j.member("threads", rows.size()).member("hosts", rows.size()).member("parasites", 0);
        j.key("states").begin('{');
        for (State s : State.values()) {
            j.member(s.text(), states[s.ordinal()]);
        }
        j.end('}').key("reasons").begin('[');
        List<Map.Entry<WaitReason, Long>> most = new ArrayList<>(reasons.entrySet());
        most.sort(Map.Entry.comparingByValue(Comparator.reverseOrder()));
        for (Map.Entry<WaitReason, Long> e : most) {
            j.begin('{').member("reason", e.getKey().toString()).member("count", e.getValue()).end('}');
        }
        j.end(']').key("runtimes").begin('[');
        for (PicoRuntime r : Inspect.runtimes()) {
            runtime(j, r);
        }
        return j.end(']').end('}');
    }

    private static void runtime(Json j, PicoRuntime r) {
        j.begin('{').member("id", r.number).key("workers").begin('[');
        for (Carrier c : r.crew.carriers()) {
            PicoThread t = c.running;
            j.begin('{').member("id", c.index).member("ready", c.queue.size()).key("running");
            if (t == null) {
                j.value(null).key("held_ns").value(null);
            } else {
                j.begin('{').member("id", "" + t.threadId()).member("name", t.givenName()).end('}').known("held_ns", c.seen.heldNanos(c.tick));
            }
            j.end('}');
        }
        j.end(']').key("stats").begin('{').member("timers", r.timers.size()).member("carriers", r.crew.carriers().length).end('}').end('}');
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

    // ---- Groups and threads.

    private enum State {
        READY, RUNNING, WAITING;

        String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static State state(ThreadRow r) {
        return r.reason() != null ? State.WAITING : r.state() != Thread.State.RUNNABLE ? State.WAITING : r.isRunning() ? State.RUNNING : State.READY;
    }

    private static Json groups(boolean stacks) {
        long begun = System.nanoTime();
        List<ThreadRow> rows = Inspect.threads();
        List<Groups.Group> all = Groups.of(rows, stacks).bySize().groups;
        Json j = new Json().begin('{').member("threads", rows.size()).member("took_ns", System.nanoTime() - begun).key("groups").begin('[');
        for (Groups.Group g : all.subList(0, Math.min(all.size(), MOST_GROUPS))) {
            ThreadRow first = g.first;
            j.begin('{').member("key", key(first)).member("kind", kind(first)).member("state", state(first).text()).member("reason", text(first.reason())).member("site", text(first.entry()));
            j.key("names").begin('[');
            g.names.forEach(j::value);
            j.end(']').member("count", g.count).known("oldest_ns", first.waitingNanos()).key("workers").begin('[').end(']').member("on", first.detail());
            j.key("blockers").begin('[');
            for (PicoThread t : few(first.holders())) {
                j.value(t.shown());
            }
            stack(j.end(']'), first).end('}');
        }
        return j.end(']').member("more", Math.max(all.size() - MOST_GROUPS, 0)).key("missing").begin('[').end(']').end('}');
    }

    /** The same for all that wait alike, and in the next look. */
    private static String key(ThreadRow r) {
        long hash = 0xcbf29ce484222325L;
        for (Object part : r.alike(false)) {
            String text = part instanceof List ? ids((List<?>) part) : String.valueOf(part);
            for (int i = 0; i <= text.length(); i++) {
                hash = (hash ^ (i < text.length() ? text.charAt(i) : '\n')) * 0x100000001b3L;
            }
        }
        return String.format("%016x", hash);
    }

    private static String ids(List<?> threads) {
        StringBuilder text = new StringBuilder();
        threads.forEach(t -> text.append(((PicoThread) t).threadId()).append(' '));
        return text.toString();
    }

    private static String kind(ThreadRow r) {
        return r.isKernel() ? "kernel thread" : "light thread";
    }

    private static String text(Object o) {
        return o == null ? null : o.toString();
    }

    private static List<PicoThread> few(List<PicoThread> all) {
        return all.subList(0, Math.min(all.size(), LIMIT));
    }

    private static Json stack(Json j, ThreadRow r) {
        j.key("stack").begin('[');
        for (StackTraceElement e : r.stack()) {
            j.begin('{').member("function", e.getClassName() + "." + e.getMethodName()).member("file", e.getFileName()).known("line", e.getLineNumber()).end('}');
        }
        return j.end(']');
    }

    private static Json row(Json j, ThreadRow r) {
        j.member("id", "" + r.thread().threadId()).member("name", r.thread().givenName()).member("kind", kind(r)).member("count", 1).member("state", state(r).text());
        j.member("reason", text(r.reason())).known("waiting_ns", r.waitingNanos()).member("site", text(r.entry())).key("worker").value(null);
        j.known("runtime", r.runtime() == null ? -1 : r.runtime().number).member("group", key(r)).member("on", r.detail()).key("blockers").begin('[');
        for (PicoThread t : few(r.holders())) {
            j.begin('{').member("id", "" + t.threadId()).member("name", t.givenName()).member("why", r.reason() == WaitReason.JOIN ? "is joined" : "holds it").end('}');
        }
        return j.end(']').key("parent").value(null).key("scope").value(null);
    }

    private static Json threads(InspectRequest q) throws InspectRequest.Refused {
        int offset = q.number("offset", 0);
        int limit = Math.min(q.number("limit", LIMIT), MOST_THREADS);
        String group = q.value("group");
        String search = q.value("search").toLowerCase(Locale.ROOT);
        List<ThreadRow> found = Inspect.threads();
        found.removeIf(r -> !group.isEmpty() && !key(r).equals(group) || !search.isEmpty() && !has(r, search));
        found.sort(Comparator.comparingLong(ThreadRow::waitingNanos).reversed());
        Json j = new Json().begin('{').member("total", found.size()).key("threads").begin('[');
        for (ThreadRow r : found.subList(Math.min(offset, found.size()), (int) Math.min((long) offset + limit, found.size()))) {
            row(j.begin('{'), r).end('}');
        }
        return j.end(']').end('}');
    }

    private static boolean has(ThreadRow r, String search) {
        Object[] parts = {r.thread().givenName(), r.reason(), r.detail(), r.entry(), r.place()};
        for (Object part : parts) {
            if (part != null && part.toString().toLowerCase(Locale.ROOT).contains(search)) {
                return true;
            }
        }
        return r.thread().isNumber(search);
    }

    private static Answer thread(InspectRequest q) throws InspectRequest.Refused {
        String id = q.path.substring(THREAD.length());
        if (!id.matches("\\d{1,18}")) {
            throw new InspectRequest.Refused(400, "`" + id + "` is no number of a thread");
        }
        for (ThreadRow r : Inspect.threads()) {
            if (r.thread().isNumber(id)) {
                return Answer.of(stack(row(new Json().begin('{'), r), r).end('}'));
            }
        }
        throw new InspectRequest.Refused(404, "there is no thread " + id + ": it has ended, or has not started");
    }

    private static Json stuck() {
        Json j = new Json().begin('{').key("stuck").begin('[');
        for (List<ThreadRow> ring : Inspect.stuck()) {
            j.begin('{').member("class", "certain").member("text", Rings.text(ring)).end('}');
        }
        return j.end(']').end('}');
    }
}
