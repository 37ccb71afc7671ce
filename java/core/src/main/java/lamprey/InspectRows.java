package lamprey;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Threads as an {@link InspectServer} tells them: groups of those that wait alike, a page of a list, one with its stack. */
final class InspectRows {
    /** Most groups that are told. */
    private static final int MOST_GROUPS = 1000;
    /** How many threads are told at a time, if nothing else is asked for, and at most. */
    private static final int LIMIT = 100;
    private static final int MOST_THREADS = 1000;

    static final List<String> PARAMETERS = Arrays.asList("kind", "state", "reason", "search", "group", "offset", "limit");
    private static final String LIGHT = "light thread";
    private static final String KERNEL = "kernel thread";

    private InspectRows() {}

    enum State {
        READY, RUNNING, WAITING;

        String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    static State state(ThreadRow r) {
        return r.reason() != null ? State.WAITING : r.state() != Thread.State.RUNNABLE ? State.WAITING : r.isRunning() ? State.RUNNING : State.READY;
    }

    static Json groups(boolean stacks) {
        long begun = System.nanoTime();
        List<ThreadRow> rows = Inspect.threads();
        List<Groups.Group> all = Groups.of(rows, stacks).bySize().groups;
        Json j = new Json().begin('{').member("threads", rows.size()).member("took_ns", System.nanoTime() - begun).key("groups").begin('[');
        for (Groups.Group g : all.subList(0, Math.min(all.size(), MOST_GROUPS))) {
            ThreadRow first = g.first;
            j.begin('{').member("key", key(first)).member("kind", kind(first)).member("state", state(first).text()).member("reason", text(first.reason())).member("site", site(first));
            j.key("names").begin('[');
            g.names.forEach(j::value);
            j.end(']').member("count", g.count).known("oldest_ns", first.waitingNanos()).key("workers").begin('[');
            if (first.carrier() >= 0) {
                j.value(first.carrier());
            }
            j.end(']').member("on", first.detail());
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
        return r.isKernel() ? KERNEL : LIGHT;
    }

    private static String text(Object o) {
        return o == null ? null : o.toString();
    }

    /** Where it was started; if that is not kept, its outermost call. */
    private static String site(ThreadRow r) {
        return text(r.site() == null ? r.entry() : r.site());
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
        j.member("reason", text(r.reason())).known("waiting_ns", r.waitingNanos()).member("site", site(r)).known("worker", r.carrier());
        j.known("runtime", r.runtime() == null ? -1 : r.runtime().number).member("group", key(r)).member("on", r.detail()).key("blockers").begin('[');
        for (PicoThread t : few(r.holders())) {
            j.begin('{').member("id", "" + t.threadId()).member("name", t.givenName()).member("why", r.reason() == WaitReason.JOIN ? "is joined" : "holds it").end('}');
        }
        return j.end(']').key("parent").value(null).key("scope").value(null);
    }

    static Json threads(InspectRequest q) throws InspectRequest.Refused {
        int offset = q.number("offset", 0);
        int limit = Math.min(q.number("limit", LIMIT), MOST_THREADS);
        String group = q.value("group");
        String kind = q.choice("kind", Arrays.asList(LIGHT, KERNEL));
        String state = q.choice("state", words(State.values(), State::text));
        String reason = q.choice("reason", words(WaitReason.values(), WaitReason::toString));
        String search = q.value("search").toLowerCase(Locale.ROOT);
        List<ThreadRow> found = Inspect.threads();
        found.removeIf(r -> !isWanted(kind, kind(r)) || !isWanted(state, state(r).text()) || !isWanted(reason, text(r.reason())));
        found.removeIf(r -> !group.isEmpty() && !key(r).equals(group) || !search.isEmpty() && !has(r, search));
        found.sort(Comparator.comparingLong(ThreadRow::waitingNanos).reversed());
        Json j = new Json().begin('{').member("total", found.size()).key("threads").begin('[');
        for (ThreadRow r : found.subList(Math.min(offset, found.size()), (int) Math.min((long) offset + limit, found.size()))) {
            row(j.begin('{'), r).end('}');
        }
        return j.end(']').end('}');
    }

    private static <T> List<String> words(T[] all, Function<T, String> text) {
        return Stream.of(all).map(text).collect(Collectors.toList());
    }

    /** @param asked empty: anything is wanted */
    private static boolean isWanted(String asked, String is) {
        return asked.isEmpty() || asked.equals(is);
    }

    private static boolean has(ThreadRow r, String search) {
        Object[] parts = {r.thread().givenName(), r.reason(), r.detail(), r.site(), r.entry(), r.place()};
        for (Object part : parts) {
            if (part != null && part.toString().toLowerCase(Locale.ROOT).contains(search)) {
                return true;
            }
        }
        return r.thread().isNumber(search);
    }

    /** @param at where the number begins in the path */
    static Json thread(InspectRequest q, int at) throws InspectRequest.Refused {
        String id = q.path.substring(at);
        if (!id.matches("\\d{1,18}")) {
            throw new InspectRequest.Refused(400, "`" + id + "` is no number of a thread");
        }
        for (ThreadRow r : Inspect.threads()) {
            if (r.thread().isNumber(id)) {
                return stack(row(new Json().begin('{'), r), r).end('}');
            }
        }
        throw new InspectRequest.Refused(404, "there is no thread " + id + ": it has ended, or has not started");
    }
}
