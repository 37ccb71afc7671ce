package lamprey.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Locale;
import lamprey.bench.light.LightWork;
import lamprey.bench.plain.Kind;
import lamprey.bench.plain.PlainWork;

/** How many bytes of the heap a blocked thread takes: the heap in use before and after there are many, divided. */
public final class MemoryBench {
    private MemoryBench() {}

    /** Arguments: {@code pico}, a {@link Kind} or the name of a class with a method {@code blocked}, number of threads, depth of calls at which they wait. */
    public static void main(String[] args) throws Exception {
        Object[] held = new Object[Integer.parseInt(args[1])];
        int depth = Integer.parseInt(args[2]);
        block(args[0], new Object[10], depth);
        long before = used();
        block(args[0], held, depth);
        long bytes = used() - before;
        System.out.printf("%d bytes of heap for each of %d threads blocked at depth %d; %.0f resident%n",
            bytes / held.length, held.length, depth, resident() / (double) held.length);
        if (held[held.length - 1] == null) {
            throw new AssertionError("not all threads were started");
        }
        System.exit(0);
    }

    private static void block(String kind, Object[] held, int depth) throws InterruptedException, ReflectiveOperationException {
        if (kind.equals("pico")) {
            Pico.one().run(LightWork.blocked(held, depth));
        } else if (kind.indexOf('.') >= 0) {
            // Of the other libraries, in a jar of their own.
            Class.forName(kind).getMethod("blocked", Object[].class, int.class).invoke(null, held, depth);
        } else {
            Kind k = Kind.valueOf(kind.toUpperCase(Locale.ROOT).replace('-', '_'));
            k.run(PlainWork.blocked(k, held, depth));
        }
    }

    /** After collections, until they find no more. */
    private static long used() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 10; i++) {
            System.gc();
            long now = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
            if (now >= least - 1000) {
                break;
            }
            least = now;
        }
        return least;
    }

    private static long resident() throws IOException {
        for (String line : Files.readAllLines(Paths.get("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024;
            }
        }
        return 0;
    }
}
