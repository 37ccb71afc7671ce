package lamprey;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** The system properties that {@link PicoRuntime#standard()} obeys. A name or a value that is wrong is an error: a setting that is not obeyed would not be noticed. */
final class Settings {
    /** Without the prefix. The last ones are of the build, which hands them on to the tests that it runs. */
    private static final List<String> KNOWN = Arrays.asList("backend", "carriers", "deadlocks", "dump", "extraCarriers", "inspect", "maxDepth", "scheduler", "simulate", "sites", "stuckAfter", "traces", "dns.servers");
    private static final List<String> OF_THE_PLUGIN = Arrays.asList("everything", "failOnRefusal", "mode", "rewrite", "skip", "verbose");
    private static final String PREFIX = "lamprey.";

    private Settings() {}

    static PicoRuntime.Builder apply(PicoRuntime.Builder b) {
        for (String name : System.getProperties().stringPropertyNames()) {
            if (name.startsWith(PREFIX)) {
                check(name.substring(PREFIX.length()));
            }
        }
        isOn("sites", "off");
        b.backend(backend(System.getProperty("lamprey.backend", "coroutines")));
        String seed = System.getProperty("lamprey.simulate");
        String carriers = System.getProperty("lamprey.carriers");
        String policy = System.getProperty("lamprey.scheduler", seed == null ? "fifo" : "random");
        long number = seed == null ? System.nanoTime() : number("lamprey.simulate", seed, "a seed");
        if (seed != null) {
            if (carriers != null && number("lamprey.carriers", carriers, "how many carriers") != 1) {
                throw new IllegalArgumentException("-Dlamprey.carriers=" + carriers + " together with -Dlamprey.simulate: a simulation has one carrier");
            }
            b.carriers(1).simulated();
        } else if (carriers != null) {
            b.carriers(toInt(number("lamprey.carriers", carriers, "how many carriers")));
        }
        String extra = System.getProperty("lamprey.extraCarriers");
        if (extra != null) {
            b.extraCarriers(toInt(number("lamprey.extraCarriers", extra, "how many carriers may be added while others are held")));
        }
        String depth = System.getProperty("lamprey.maxDepth");
        if (depth != null) {
            b.maxDepth(toInt(number("lamprey.maxDepth", depth, "how many calls deep a thread may be suspended")));
        }
        if (!policy.equals("fifo")) {
            b.scheduler(Schedulers.named(policy, number));
        }
        return b;
    }

    /** Opens the endpoint that was asked for. */
    static void serve() {
        String address = System.getProperty("lamprey.inspect");
        if (address != null) {
            try {
                String token = System.getProperty("lamprey.inspect.token");
                InetSocketAddress at = (token == null ? Inspect.serve(address) : Inspect.serveWithToken(address, token)).address();
                System.err.println("lamprey: http:/" + at + "/ tells what this program does");
            } catch (IOException | RuntimeException e) {
                throw new IllegalArgumentException("-Dlamprey.inspect=" + address + ": " + e.getMessage(), e);
            }
        }
    }

    /** How long a carrier may be held until that is told, in nanoseconds, by every runtime whose builder is not told otherwise. */
    static long stuckAfter() {
        String value = System.getProperty("lamprey.stuckAfter", "100");
        if (value.equals("off")) {
            return Long.MAX_VALUE;
        }
        long millis = number("lamprey.stuckAfter", value, "how many milliseconds a carrier may be held until that is told; or it is off");
        if (millis < 0) {
            throw new IllegalArgumentException("-Dlamprey.stuckAfter=" + value + ": a time cannot be negative");
        }
        return TimeUnit.MILLISECONDS.toNanos(millis);
    }

    /** Whether deadlocks are noticed, by every runtime whose builder is not told otherwise. */
    static boolean deadlocks() {
        return isOn("deadlocks", "on");
    }

    private static boolean isOn(String name, String otherwise) {
        String value = System.getProperty(PREFIX + name, otherwise);
        if (!value.equals("on") && !value.equals("off")) {
            throw new IllegalArgumentException("-D" + PREFIX + name + "=" + value + ": it is on or off");
        }
        return value.equals("on");
    }

    /** Other names with a dot are left to other users of the prefix. */
    private static void check(String name) {
        if (!KNOWN.contains(name) && !OF_THE_PLUGIN.contains(name) && name.indexOf('.') < 0) {
            throw new IllegalArgumentException("there is no property lamprey." + name + "; there are lamprey." + String.join(", lamprey.", KNOWN));
        }
    }

    private static Backend backend(String name) {
        for (Backend b : Backend.values()) {
            if (b.name().toLowerCase(Locale.ROOT).equals(name.toLowerCase(Locale.ROOT))) {
                return b;
            }
        }
        throw new IllegalArgumentException("-Dlamprey.backend=" + name + ": there is no such back-end; there are coroutines, virtual, platform");
    }

    private static int toInt(long n) {
        return (int) Math.max(Math.min(n, Integer.MAX_VALUE), Integer.MIN_VALUE);
    }

    private static long number(String property, String value, String what) {
        try {
            return Long.parseLong(value.trim());
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("-D" + property + "=" + value + ": this is no number; it says " + what);
        }
    }
}
