package lamprey.piranha;

import java.net.URL;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What the command line asks for. Immutable once read. */
public final class Options {
    static final String USAGE = "usage: java -jar piranha.jar [options] http://host/ ...\n"
        + "  --pages N       read at most N pages (1000)\n"
        + "  --depth N       follow at most N links from a start page (no limit)\n"
        + "  --threads N     at most N threads read at once, the others wait (500)\n"
        + "  --per-host N    at most N of them from the same server (8)\n"
        + "  --delay MS      at least so long from one request to the next to the same server (0)\n"
        + "  --policy P      which of the waiting threads is next: fifo (breadth first), lifo (depth first), random (fifo)\n"
        + "  --program P     threads: a thread for each URL; pool: --threads threads for all of them (threads)\n"
        + "  --backend B     what threads are: coroutines, virtual, platform (coroutines)\n"
        + "  --carriers N    kernel threads that run the coroutines (as many as processors)\n"
        + "  --other-hosts   follow links to servers that no start page is on\n"
        + "  --no-robots     do not ask for robots.txt: only for servers of your own\n"
        + "  --no-links      read the start pages only\n"
        + "  --timeout MS    to connect, to answer and for a whole page (30000)\n"
        + "  --max-bytes N   cut longer pages (10000000)\n"
        + "  --repeat N      crawl N times, to see what is left of the JVM's warming up (1)\n"
        + "  --agent TEXT    how the crawler names itself (Piranha/0.1)\n"
        + "  --verbose       a line for each URL";

    /** Where the crawl begins. */
    final List<URL> start = new ArrayList<>();
    int pages = 1000;
    int depth = Integer.MAX_VALUE;
    int threads = 500;
    int perHost = 8;
    int delayMillis;
    Order policy = Order.FIFO;
    Program program = Program.THREADS;
    int repeat = 1;
    String backend = "coroutines";
    int carriers;
    boolean otherHosts;
    boolean robots = true;
    boolean links = true;
    int timeoutMillis = 30_000;
    int maxBytes = 10_000_000;
    String agent = "Piranha/0.1";
    boolean verbose;

    /** How URLs are given to threads. */
    enum Program {
        /** {@link Piranha}. */
        THREADS,
        /** {@link Pool}. */
        POOL,
        /** {@link VirtualPiranha}. */
        VIRTUAL
    }

    private Options() {}

    /**
     * Reads the command line.
     *
     * @throws IllegalArgumentException with a message for the user
     */
    public static Options parse(String... args) {
        Options o = new Options();
        for (int i = 0; i < args.length; i++) {
            if (!args[i].startsWith("--")) {
                o.start.add(Urls.start(args[i]));
            } else if (!o.flag(args[i])) {
                if (i + 1 == args.length) {
                    throw new IllegalArgumentException(args[i] + " needs a value, or is unknown");
                }
                o.set(args[i], args[++i]);
            }
        }
        if (o.start.isEmpty()) {
            throw new IllegalArgumentException("no address to start from");
        }
        return o;
    }

    private boolean flag(String name) {
        switch (name) {
            case "--other-hosts":
                otherHosts = true;
                return true;
            case "--no-robots":
                robots = false;
                return true;
            case "--no-links":
                links = false;
                return true;
            case "--verbose":
                verbose = true;
                return true;
            default:
                return false;
        }
    }

    private void set(String name, String value) {
        switch (name) {
            case "--pages":
                pages = number(name, value, 1);
                break;
            case "--depth":
                depth = number(name, value, 0);
                break;
            case "--threads":
                threads = number(name, value, 1);
                break;
            case "--per-host":
                perHost = number(name, value, 1);
                break;
            case "--delay":
                delayMillis = number(name, value, 0);
                break;
            case "--policy":
                policy = Order.parse(value);
                break;
            case "--program":
                program = Program.valueOf(oneOf(name, value, "threads", "pool", "virtual").toUpperCase(Locale.ROOT));
                break;
            case "--backend":
                backend = oneOf(name, value, "coroutines", "virtual", "platform");
                break;
            case "--carriers":
                carriers = number(name, value, 1);
                break;
            case "--timeout":
                timeoutMillis = number(name, value, 1);
                break;
            case "--repeat":
                repeat = number(name, value, 1);
                break;
            case "--max-bytes":
                maxBytes = number(name, value, 1);
                break;
            case "--agent":
                agent = agent(value);
                break;
            default:
                throw new IllegalArgumentException("unknown option " + name);
        }
    }

    private static String agent(String value) {
        if (value.isEmpty() || !Character.isLetter(value.charAt(0)) || value.indexOf('\r') >= 0 || value.indexOf('\n') >= 0) {
            throw new IllegalArgumentException("--agent must be one line that begins with a letter, such as MyBot/1.0: " + value);
        }
        return value;
    }

    private static String oneOf(String name, String value, String... known) {
        for (String k : known) {
            if (k.equals(value)) {
                return value;
            }
        }
        throw new IllegalArgumentException(name + " " + value + ": there is " + String.join(", ", known));
    }

    private static int number(String name, String value, int least) {
        try {
            int n = Integer.parseInt(value);
            if (n >= least) {
                return n;
            }
        } catch (NumberFormatException e) {
            // Said below.
        }
        throw new IllegalArgumentException(name + " " + value + ": not a whole number from " + least + " to " + Integer.MAX_VALUE);
    }
}
