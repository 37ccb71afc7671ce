package lamprey.agent;

import java.lang.instrument.Instrumentation;

/**
 * Transforms classes as they are loaded: {@code java -javaagent:lamprey-agent.jar=packages=com.foo,com.bar;mode=exceptions ..}, with lamprey-core on the class
 * path. All methods of classes in these packages are transformed, as only one class is seen at a time; of other classes, those that have methods
 * annotated {@code @Suspendable}. Options are separated by semicolons:
 *
 * <pre>
 * packages=P,Q     packages, with all below them, or patterns as of the Maven plugin
 * exclude=P,Q      packages, classes or patterns to leave as they are
 * mode=M           exceptions (default) or flags
 * rewrite=false    do not replace java.lang.Thread and other names
 * verbose=true     name each transformed class on System.err
 * </pre>
 */
public final class Agent {
    private Agent() {}

    /** Called by the JVM. Bad options end it, with a message. */
    public static void premain(String args, Instrumentation instrumentation) {
        AgentOptions options;
        try {
            options = AgentOptions.parse(args == null ? "" : args);
        } catch (IllegalArgumentException e) {
            // Thrown on, it would make the JVM crash with a report.
            System.err.println("lamprey-agent: " + e.getMessage());
            System.exit(1);
            return;
        }
        ClassTransformer transformer = new ClassTransformer(options, new Definer(instrumentation));
        if (options.packages().isEmpty()) {
            System.err.println("lamprey-agent: no packages= are given, so only classes with methods annotated @Suspendable are transformed");
        } else {
            Runtime.getRuntime().addShutdownHook(new Thread(transformer::reportUnused, "lamprey-agent"));
        }
        instrumentation.addTransformer(transformer);
    }
}
