package lamprey.piranha;

import java.util.Locale;
import lamprey.Backend;
import lamprey.PicoRuntime;
import lamprey.Schedulers;

/** The command line. Chooses what the threads run on; the rest of the program does not know. */
public final class Main {
    private Main() {}

    /** {@code java -jar piranha.jar --help} says what there is. Exit codes: 0 done, 1 given up, or no start page could be read, 2 a mistake in the command line. */
    public static void main(String[] args) {
        Options options = options(args);
        if (options.program == Options.Program.VIRTUAL) {
            System.err.println("--program virtual is for classes that are not transformed (JdkMain); here there is --backend virtual");
            System.exit(2);
        }
        Session session = new Session(options);
        PicoRuntime runtime;
        try {
            runtime = runtime(options);
        } catch (IllegalArgumentException | UnsupportedOperationException e) {
            System.err.println(e.getMessage());
            System.exit(2);
            return;
        }
        runtime.run(session);
        System.exit(session.exitCode());
    }

    private static PicoRuntime runtime(Options options) {
        PicoRuntime.Builder b = PicoRuntime.builder().backend(Backend.valueOf(options.backend.toUpperCase(Locale.ROOT)));
        if (options.policy == Order.LIFO) {
            b.scheduler(Schedulers.lifo());
        } else if (options.policy == Order.RANDOM) {
            b.scheduler(Schedulers.random(1));
        }
        return (options.carriers > 0 ? b.carriers(options.carriers) : b).build();
    }

    /** Ends the process if there is nothing to do. */
    static Options options(String... args) {
        if (args.length == 1 && args[0].equals("--help")) {
            System.out.println(Options.USAGE);
            System.exit(0);
        }
        try {
            return Options.parse(args);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.err.println(Options.USAGE);
            System.exit(2);
            throw e;
        }
    }
}
