package lamprey;

import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Who waits for whom, as nodes and edges: threads in rings first, then those that have waited longest for another. */
final class InspectGraph {
    private static final int MOST = 500;

    /** The numbers of the threads that are told of, and whether each is in a ring. */
    private final Map<PicoThread, Boolean> nodes = new LinkedHashMap<>();
    private boolean cut;

    private InspectGraph() {}

    static Json of(List<ThreadRow> rows) {
        InspectGraph g = new InspectGraph();
        for (List<ThreadRow> ring : Rings.of(rows)) {
            for (ThreadRow r : ring) {
                g.add(r.thread(), true);
            }
        }
        rows.removeIf(r -> r.holders().isEmpty());
        rows.sort((a, b) -> Long.compare(b.waitingNanos(), a.waitingNanos()));
        for (ThreadRow r : rows) {
            g.add(r.thread(), false);
            r.holders().forEach(t -> g.add(t, false));
        }
        return g.json(rows);
    }

    private void add(PicoThread t, boolean stuck) {
        if (nodes.size() < MOST) {
            nodes.putIfAbsent(t, stuck);
        } else {
            cut |= !nodes.containsKey(t);
        }
    }

    /** For what it waits; and on what, if it is known where that was made. */
    private static String label(ThreadRow r) {
        String on = r.detail();
        int made = on == null ? -1 : on.indexOf(", made at ");
        int end = made < 0 ? -1 : on.indexOf(", owned by ", made);
        return r.reason() + (made < 0 ? "" : on.substring(made, end < 0 ? on.length() : end));
    }

    private Json json(List<ThreadRow> waiting) {
        Map<PicoThread, String> ids = new IdentityHashMap<>();
        Json j = new Json().begin('{').key("nodes").begin('[');
        nodes.forEach((t, stuck) -> {
            String id = "" + t.threadId();
            ids.put(t, id);
            j.begin('{').member("id", id).member("label", t.shown()).member("kind", "thread").key("stuck").value(stuck.booleanValue()).end('}');
        });
        j.end(']').key("edges").begin('[');
        for (ThreadRow r : waiting) {
            for (PicoThread t : r.holders()) {
                if (ids.containsKey(r.thread()) && ids.containsKey(t)) {
                    j.begin('{').member("from", ids.get(r.thread())).member("to", ids.get(t)).member("label", label(r)).end('}');
                }
            }
        }
        return j.end(']').key("cut").value(cut).end('}');
    }
}
