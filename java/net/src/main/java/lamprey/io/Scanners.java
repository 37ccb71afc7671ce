package lamprey.io;

import java.util.Scanner;
import java.util.concurrent.Callable;
import lamprey.Blocking;

/**
 * What rewritten programs call instead of the methods of {@link Scanner}, a final class of the JDK whose code cannot be suspended: the call is made in a kernel
 * thread of a pool, while the light thread waits.
 */
public final class Scanners {
    private Scanners() {}

    private static <T> T inPool(Callable<T> call) {
        try {
            return Blocking.call(call);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** For {@link Scanner#hasNext()}. Blocks. */
    public static boolean hasNext(Scanner s) {
        return inPool(s::hasNext);
    }

    /** For {@link Scanner#next()}. Blocks. */
    public static String next(Scanner s) {
        return inPool(() -> s.next());
    }

    /** For {@link Scanner#hasNextLine()}. Blocks. */
    public static boolean hasNextLine(Scanner s) {
        return inPool(s::hasNextLine);
    }

    /** For {@link Scanner#nextLine()}. Blocks. */
    public static String nextLine(Scanner s) {
        return inPool(s::nextLine);
    }

    /** For {@link Scanner#hasNextInt()}. Blocks. */
    public static boolean hasNextInt(Scanner s) {
        return inPool(() -> s.hasNextInt());
    }

    /** For {@link Scanner#nextInt()}. Blocks. */
    public static int nextInt(Scanner s) {
        return inPool(() -> s.nextInt());
    }

    /** For {@link Scanner#hasNextLong()}. Blocks. */
    public static boolean hasNextLong(Scanner s) {
        return inPool(() -> s.hasNextLong());
    }

    /** For {@link Scanner#nextLong()}. Blocks. */
    public static long nextLong(Scanner s) {
        return inPool(() -> s.nextLong());
    }

    /** For {@link Scanner#hasNextDouble()}. Blocks. */
    public static boolean hasNextDouble(Scanner s) {
        return inPool(s::hasNextDouble);
    }

    /** For {@link Scanner#nextDouble()}. Blocks. */
    public static double nextDouble(Scanner s) {
        return inPool(s::nextDouble);
    }

    /** For {@link Scanner#nextBoolean()}. Blocks. */
    public static boolean nextBoolean(Scanner s) {
        return inPool(s::nextBoolean);
    }
}
