package lamprey.tests.random;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs each method of a program as it is, and transformed under several plans of suspending: all runs must record the same. */
final class Check {
    private final World world;
    private final Weaver weaver;
    final int[] features = new int[Feature.values().length];
    long runs;

    Check(World world, Weaver weaver) {
        this.world = world;
        this.weaver = weaver;
    }

    /** A difference: which method was called, how it suspended, and what was recorded. */
    static final class Failure {
        /** -1: the program could not be transformed or loaded. */
        final int method;
        final String what;

        Failure(int method, String what) {
            this.method = method;
            this.what = what;
        }
    }

    /** Null if there is no difference. */
    Failure of(Program p) {
        return of(p, -1);
    }

    /** Looks at one method only, if that is not negative. */
    Failure of(Program p, int only) {
        Map<String, byte[]> files = Classes.write(p, features);
        Entry plain = Loaded.load(files);
        Entry woven;
        try {
            woven = Loaded.load(weaver.weave(files));
        } catch (RuntimeException | LinkageError e) {
            return new Failure(-1, trace(e));
        }
        for (Meth m : p.methods) {
            if (EntryClass.callable(m) && (only < 0 || only == m.id)) {
                Failure f = method(plain, woven, m.id);
                if (f != null) {
                    return f;
                }
            }
        }
        return null;
    }

    private static String trace(Throwable t) {
        StringWriter out = new StringWriter();
        t.printStackTrace(new PrintWriter(out));
        String text = out.toString();
        return text.length() > 6000 ? text.substring(0, 6000) : text;
    }

    private Failure method(Entry plain, Entry woven, int method) {
        String expected = run(plain, method, Plan.NEVER, false, false);
        int yields = world.yields();
        for (Plan plan : plans(method, yields, weaver == Weaver.NONE)) {
            String got = run(woven, method, plan, true, false);
            if (!got.equals(expected)) {
                return new Failure(method, "suspends " + plan + "\n  plain:       " + run(plain, method, Plan.NEVER, false, true)
                    + "\n  transformed: " + run(woven, method, plan, true, true));
            }
        }
        return null;
    }

    /** None, all, random ones, and each single one; of many single ones some. */
    private static List<Plan> plans(int method, int yields, boolean never) {
        List<Plan> plans = new ArrayList<>();
        plans.add(Plan.NEVER);
        if (yields == 0 || never) {
            return plans;
        }
        plans.add(Plan.ALWAYS);
        if (yields > 1) {
            plans.add(Plan.random(method));
            int step = Math.max(1, yields / 6);
            for (int i = method % step; i < yields; i += step) {
                plans.add(Plan.only(i));
            }
        }
        if (yields > 2) {
            plans.add(Plan.random(method + 1000));
        }
        return plans;
    }

    private String run(Entry entry, int method, Plan plan, boolean asCoroutine, boolean withText) {
        runs++;
        world.begin(plan, withText);
        entry.reset();
        entry.select(method);
        String thrown = "returned, ";
        try {
            if (asCoroutine) {
                Run r = new Run(entry);
                r.toEnd(world);
            } else {
                entry.run();
            }
        } catch (Throwable t) {
            thrown = "threw " + t.getClass().getName() + (t instanceof Boom ? " " + t.getMessage() : "") + (withText ? trace(t) : "") + ", ";
        }
        return thrown + world.record();
    }
}
