package lamprey.tests.weave.samples;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import lamprey.instrument.PinnedError;

/** Calls that lead to a site through methods of the JDK. They can be made, if only the thread is not suspended there. */
public final class Foreign extends Sample {
    @Override
    Object test() {
        Map<String, Object> map = new HashMap<>();
        Function<String, Object> load = k -> {
            log("load " + k);
            return s(k + "!");
        };
        try {
            log("got " + map.computeIfAbsent("a", load));
        } catch (Error e) {
            log(e.getClass().getName());
        }
        log("still " + s("here"));
        try {
            Collections.nCopies(3, "x").forEach(x -> log(s(x)));
        } catch (Throwable e) {
            log(e.getClass().getName());
        }
        try {
            Collections.nCopies(1, "y").forEach(y -> log(s(y)));
        } catch (PinnedError e) {
            log(e.getClass().getName());
        } catch (Throwable e) {
            log("not " + e.getClass().getName());
        }
        int operand = i(4);
        try {
            map.computeIfAbsent("b", k -> i(1));
        } finally {
            log("finally " + i(2));
        }
        return map + " " + operand;
    }
}
