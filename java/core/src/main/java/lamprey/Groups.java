package lamprey;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Threads, those that wait for the same in the same way together, in the order in which they were found. */
final class Groups {
    /** Most groups that are printed. */
    private static final int MOST = 1000;
    /** Most names of a group that are printed, beside the first one's. */
    private static final int MOST_NAMES = 7;

    final List<Group> groups = new ArrayList<>();
    private final List<List<ThreadRow>> rings;

    private Groups(List<List<ThreadRow>> rings) {
        this.rings = rings;
    }

    /** Threads that wait alike. */
    static final class Group {
        /** The one that has waited longest. */
        ThreadRow first;
        int count;
        /** The names that some of them were given. */
        final Set<String> names = new LinkedHashSet<>();

        private void add(ThreadRow row) {
            count++;
            if (first == null || row.waitingNanos() > first.waitingNanos()) {
                first = row;
            }
            String name = row.thread().givenName();
            if (name != null && names.size() <= MOST_NAMES) {
                names.add(name);
            }
        }

        private void print(StringBuilder out, boolean own) {
            out.append(first);
            if (count > 1) {
                out.append("; and ").append(count - 1).append(count == 2 ? " other" : " others").append(" in the same way");
                char before = ':';
                int others = 0;
                for (String n : names) {
                    if (!n.equals(first.thread().givenName()) && others++ < MOST_NAMES) {
                        out.append(before).append(' ').append(Shown.quoted(n));
                        before = ',';
                    }
                }
                out.append(others > 0 && others < count - 1 ? ", .." : "");
            }
            out.append('\n');
            if (first.site() != null) {
                out.append("    started at ").append(Shown.plain(first.site().toString())).append('\n');
            }
            for (StackTraceElement e : first.stack()) {
                if (!own || !HeldStack.isOfTheRuntime(e.getClassName())) {
                    out.append("    at ").append(Shown.plain(e.toString())).append('\n');
                }
            }
        }
    }

    /** @param stacks whether all their calls must be the same */
    static Groups of(List<ThreadRow> rows, boolean stacks) {
        Map<List<Object>, Group> like = new LinkedHashMap<>();
        for (ThreadRow row : rows) {
            like.computeIfAbsent(row.alike(stacks), k -> new Group()).add(row);
        }
        Groups all = new Groups(Rings.of(rows));
        all.groups.addAll(like.values());
        return all;
    }

    /** The largest first. */
    Groups bySize() {
        groups.sort(Comparator.comparingInt((Group g) -> g.count).reversed());
        return this;
    }

    /** @param own without the calls of the runtime */
    String text(boolean own) {
        StringBuilder out = new StringBuilder();
        int n = 0;
        for (Group g : groups) {
            if (n++ == MOST) {
                break;
            }
            g.print(out, own);
        }
        if (groups.size() > MOST) {
            out.append("(and ").append(groups.size() - MOST).append(" more places where threads wait)\n");
        }
        for (List<ThreadRow> ring : rings) {
            out.append(Rings.text(ring)).append('\n');
        }
        int end = out.length();
        return out.substring(0, end > 0 && out.charAt(end - 1) == '\n' ? end - 1 : end);
    }
}
