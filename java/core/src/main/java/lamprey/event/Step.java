package lamprey.event;

/** What a combinator does with the result of an event inside it. The steps of a branch form a list, innermost first. */
abstract class Step {
    final Step outer;

    Step(Step outer) {
        this.outer = outer;
    }

    /** A function of the result. */
    static final class Wrap extends Step {
        final Event.Function<Object, Object> function;

        Wrap(Event.Function<Object, Object> function, Step outer) {
            super(outer);
            this.function = function;
        }
    }

    /** The branch is inside an event with a negative acknowledgement. */
    static final class Inside extends Step {
        final Nack nack;

        Inside(Nack nack, Step outer) {
            super(outer);
            this.nack = nack;
        }
    }

    /** The branch belongs to a member of a {@code chooseAll}. */
    static final class Member extends Step {
        final Group group;
        final int index;

        Member(Group group, int index, Step outer) {
            super(outer);
            this.group = group;
            this.index = index;
        }
    }

    /** The results of one {@code chooseAll} in one synchronisation. */
    static final class Group {
        final Object[] results;
        int missing;

        Group(int members) {
            results = new Object[members];
            missing = members;
        }
    }

    /** Whether a branch with the path {@code other} can still happen, after one with the path {@code won} has: two members of one group. */
    static boolean compatible(Step won, Step other) {
        for (Step w = won; w != null; w = w.outer) {
            if (w instanceof Member) {
                for (Step o = other; o != null; o = o.outer) {
                    if (o instanceof Member && ((Member) o).group == ((Member) w).group) {
                        // The innermost group that both are in: two of its members can both happen, two branches of one member cannot.
                        return ((Member) o).index != ((Member) w).index;
                    }
                }
            }
        }
        return false;
    }
}
