package lamprey.tests.random;

import java.util.ArrayList;
import java.util.List;
import lamprey.transform.Mode;

/** A campaign against the real weaver, started by a method that can be called in another class loader: it takes and returns strings only. */
public final class Campaigns {
    private Campaigns() {}

    /** Returns what is wrong; empty if nothing is. */
    public static String run(String mode, String seed, String methods) throws InterruptedException {
        int wanted = Integer.parseInt(methods);
        Campaign c = Campaign.run(new RealWeaver(Mode.valueOf(mode)), Long.parseLong(seed), wanted, 2, 3000);
        System.out.println("random methods, " + mode + ": " + c);
        if (c.failure() != null) {
            return c.failure();
        }
        List<String> missing = missing(c);
        if (c.methods < wanted) {
            missing.add("only " + c);
        }
        return missing.isEmpty() ? "" : missing.toString();
    }

    private static List<String> missing(Campaign c) {
        List<String> missing = new ArrayList<>();
        for (Feature f : Feature.values()) {
            if (c.features[f.ordinal()] == 0) {
                missing.add(f + " was never written");
            }
        }
        for (Where w : Where.values()) {
            if (c.suspendedIn[w.ordinal()] == 0) {
                missing.add("no suspension in " + w);
            }
        }
        return missing;
    }
}
