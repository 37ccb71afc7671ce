package lamprey.event;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lamprey.PicoRuntime;

/**
 * One synchronisation: the branches of an event, decided in rounds. There is one round, and one winner, unless the winner is a member of a
 * {@code chooseAll}: then the branches that are compatible with it take part in another round, with a new {@link Choice}.
 *
 * <p><b>Invariants.</b> Between rounds no offer is published. A nack fires, once, as soon as no winner is inside it and no branch that can still win is, and
 * before any wrap runs.
 */
final class Sync {
    private Branch[] branches = new Branch[4];
    private int count;
    private final List<Branch> winners = new ArrayList<>(1);
    private List<Nack> nacks;

    void add(Branch b) {
        if (count == branches.length) {
            branches = Arrays.copyOf(branches, 2 * count);
        }
        branches[count++] = b;
    }

    Nack newNack() {
        Nack nack = new Nack();
        if (nacks == null) {
            nacks = new ArrayList<>();
        }
        nacks.add(nack);
        return nack;
    }

    /** Blocks until the event has happened. */
    Object run(Event<?> event) throws InterruptedException {
        boolean decided = false;
        try {
            event.flatten(this, null);
            do {
                eliminate(decide());
                fireNacks();
            } while (count > 0);
            decided = true;
        } finally {
            if (!decided) {
                abandon(null);
            }
        }
        return results();
    }

    /** One round: one communication. */
    private Branch decide() throws InterruptedException {
        Branch timer = null;
        for (int i = 0; i < count; i++) {
            Branch b = branches[i];
            if (b.port == null) {
                if (b.deadline - PicoRuntime.nanoTime() <= 0) {
                    return b;
                }
                timer = timer == null || b.deadline - timer.deadline < 0 ? b : timer;
            } else if (b.attempt()) {
                return b;
            }
        }
        Choice choice = new Choice(this);
        try {
            for (int i = 0; i < count && choice.isOpen(); i++) {
                if (branches[i].port != null) {
                    branches[i].publish(choice);
                }
            }
            return choice.await(timer);
        } finally {
            withdraw();
        }
    }

    private void withdraw() {
        for (int i = 0; i < count; i++) {
            branches[i].withdraw();
        }
    }

    /**
     * The synchronisation fails: the thread was interrupted, or it could not be suspended (then its frames are lost) and has been given {@code last}, or nothing
     * (null). What was received is given back, the last first; the nacks of all that has not happened fire.
     */
    void abandon(Branch last) {
        withdraw();
        if (last != null) {
            winners.add(last);
        }
        undo();
        count = 0;
        fireNacks();
    }

    /** Gives back what the winners have received. Those that have sent stay. */
    private void undo() {
        for (int i = winners.size() - 1; i >= 0; i--) {
            Branch b = winners.get(i);
            if (b.port == null || b.port.giveBack(b.result)) {
                winners.remove(i);
            }
        }
    }

    /** Keeps the branches that can still happen. */
    private void eliminate(Branch winner) {
        winners.add(winner);
        int kept = 0;
        for (int i = 0; i < count; i++) {
            Branch b = branches[i];
            if (b != winner && Step.compatible(winner.path, b.path)) {
                branches[kept++] = b;
            }
        }
        Arrays.fill(branches, kept, count, null);
        count = kept;
    }

    private void fireNacks() {
        if (nacks == null) {
            return;
        }
        for (Nack nack : nacks) {
            if (!nack.settled && !happens(nack)) {
                nack.fire();
            }
        }
    }

    private boolean happens(Nack nack) {
        for (int i = 0; i < count; i++) {
            if (inside(branches[i].path, nack)) {
                return true;
            }
        }
        for (Branch b : winners) {
            if (inside(b.path, nack)) {
                return true;
            }
        }
        return false;
    }

    private static boolean inside(Step path, Nack nack) {
        for (Step s = path; s != null; s = s.outer) {
            if (s instanceof Step.Inside && ((Step.Inside) s).nack == nack) {
                return true;
            }
        }
        return false;
    }

    /** Runs the wraps. The last winner's value reaches the root. */
    private Object results() throws InterruptedException {
        for (Branch b : winners) {
            if (b.result instanceof Port.Failure) {
                // It is thrown, and no wrap has run: what the other members of a chooseAll have received goes back.
                undo();
                throw ((Port.Failure) b.result).exception();
            }
        }
        Object value = null;
        for (Branch b : winners) {
            value = Port.result(b.result);
            for (Step s = b.path; s != null; s = s.outer) {
                if (s instanceof Step.Wrap) {
                    value = ((Step.Wrap) s).function.apply(value);
                } else if (s instanceof Step.Member) {
                    Step.Member m = (Step.Member) s;
                    m.group.results[m.index] = value;
                    if (--m.group.missing > 0) {
                        break;
                    }
                    value = new ArrayList<>(Arrays.asList(m.group.results));
                }
            }
        }
        return value;
    }
}
