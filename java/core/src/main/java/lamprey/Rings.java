package lamprey;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Rings of threads: each holds what the next one waits for, or is joined by it. Waits with a limit end by themselves, and are in none. Rows are taken one after the other, so a ring that is seen
 * may not be one: {@link #now} looks again.
 */
final class Rings {
    private Rings() {}

    /** Each thread is in one of them at most; the first of each waits for the second, and so on, the last for the first. */
    static List<List<ThreadRow>> of(List<ThreadRow> rows) {
        Map<PicoThread, ThreadRow> all = new IdentityHashMap<>();
        for (ThreadRow r : rows) {
            if (!r.holders().isEmpty() && !r.isLimited()) {
                all.put(r.thread(), r);
            }
        }
        List<List<ThreadRow>> rings = new ArrayList<>();
        Set<PicoThread> done = Collections.newSetFromMap(new IdentityHashMap<>());
        for (ThreadRow r : rows) {
            if (all.containsKey(r.thread()) && !done.contains(r.thread())) {
                follow(r, all, done, rings);
            }
        }
        return rings;
    }

    /** A walk along all holders, without recursion: a chain of joins may be long. */
    private static void follow(ThreadRow start, Map<PicoThread, ThreadRow> all, Set<PicoThread> done, List<List<ThreadRow>> rings) {
        List<ThreadRow> path = new ArrayList<>();
        List<Integer> next = new ArrayList<>();
        Map<PicoThread, Integer> at = new IdentityHashMap<>();
        path.add(start);
        next.add(0);
        at.put(start.thread(), 0);
        while (!path.isEmpty()) {
            int end = path.size() - 1;
            ThreadRow last = path.get(end);
            int i = next.get(end);
            if (i == last.holders().size()) {
                done.add(last.thread());
                at.remove(last.thread());
                path.remove(end);
                next.remove(end);
                continue;
            }
            next.set(end, i + 1);
            PicoThread holder = last.holders().get(i);
            Integer seen = at.get(holder);
            if (seen != null) {
                rings.add(new ArrayList<>(path.subList(seen, path.size())));
                path.forEach(r -> done.add(r.thread()));
                return;
            }
            ThreadRow row = done.contains(holder) ? null : all.get(holder);
            if (row != null) {
                at.put(holder, path.size());
                path.add(row);
                next.add(0);
            }
        }
    }

    /** Those of all runtimes at this moment. Looks twice: what is a ring both times, with the same waits, is one. */
    static List<List<ThreadRow>> now() {
        List<List<ThreadRow>> first = of(Inspect.threads());
        List<List<ThreadRow>> still = new ArrayList<>();
        for (List<ThreadRow> ring : first) {
            List<PicoThread> threads = new ArrayList<>();
            for (ThreadRow r : ring) {
                threads.add(r.thread());
            }
            for (List<ThreadRow> again : of(ThreadRow.of(threads))) {
                if (again.size() == ring.size()) {
                    still.add(again);
                }
            }
        }
        return still;
    }

    static String text(List<ThreadRow> ring) {
        StringBuilder out = new StringBuilder(ring.size() == 1 ? "this thread waits for itself:" : "these threads wait for each other:");
        for (ThreadRow r : ring) {
            out.append("\n  ").append(r);
        }
        return out.toString();
    }
}
