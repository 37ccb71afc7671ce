package lamprey.tests.weave.samples;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

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
            map.computeIfAbsent("b", k -> i(1));
        } finally {
            log("finally " + i(2));
        }
        return map;
    }
}
