package lamprey.io;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Scanner;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
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

    /** For {@link Scanner#hasNext(String)}. Blocks. */
    public static boolean hasNext(Scanner s, String pattern) {
        return inPool(() -> s.hasNext(pattern));
    }

    /** For {@link Scanner#next(String)}. Blocks. */
    public static String next(Scanner s, String pattern) {
        return inPool(() -> s.next(pattern));
    }

    /** For {@link Scanner#hasNext(Pattern)}. Blocks. */
    public static boolean hasNext(Scanner s, Pattern pattern) {
        return inPool(() -> s.hasNext(pattern));
    }

    /** For {@link Scanner#next(Pattern)}. Blocks. */
    public static String next(Scanner s, Pattern pattern) {
        return inPool(() -> s.next(pattern));
    }

    /** For {@link Scanner#findInLine(String)}. Blocks. */
    public static String findInLine(Scanner s, String pattern) {
        return inPool(() -> s.findInLine(pattern));
    }

    /** For {@link Scanner#findInLine(Pattern)}. Blocks. */
    public static String findInLine(Scanner s, Pattern pattern) {
        return inPool(() -> s.findInLine(pattern));
    }

    /** For {@link Scanner#findWithinHorizon(String, int)}. Blocks. */
    public static String findWithinHorizon(Scanner s, String pattern, int horizon) {
        return inPool(() -> s.findWithinHorizon(pattern, horizon));
    }

    /** For {@link Scanner#findWithinHorizon(Pattern, int)}. Blocks. */
    public static String findWithinHorizon(Scanner s, Pattern pattern, int horizon) {
        return inPool(() -> s.findWithinHorizon(pattern, horizon));
    }

    /** For {@link Scanner#skip(Pattern)}. Blocks. */
    public static Scanner skip(Scanner s, Pattern pattern) {
        return inPool(() -> s.skip(pattern));
    }

    /** For {@link Scanner#skip(String)}. Blocks. */
    public static Scanner skip(Scanner s, String pattern) {
        return inPool(() -> s.skip(pattern));
    }

    /** For {@link Scanner#hasNextBoolean()}. Blocks. */
    public static boolean hasNextBoolean(Scanner s) {
        return inPool(() -> s.hasNextBoolean());
    }

    /** For {@link Scanner#hasNextByte()}. Blocks. */
    public static boolean hasNextByte(Scanner s) {
        return inPool(() -> s.hasNextByte());
    }

    /** For {@link Scanner#hasNextByte(int)}. Blocks. */
    public static boolean hasNextByte(Scanner s, int radix) {
        return inPool(() -> s.hasNextByte(radix));
    }

    /** For {@link Scanner#nextByte()}. Blocks. */
    public static byte nextByte(Scanner s) {
        return inPool(() -> s.nextByte());
    }

    /** For {@link Scanner#nextByte(int)}. Blocks. */
    public static byte nextByte(Scanner s, int radix) {
        return inPool(() -> s.nextByte(radix));
    }

    /** For {@link Scanner#hasNextShort()}. Blocks. */
    public static boolean hasNextShort(Scanner s) {
        return inPool(() -> s.hasNextShort());
    }

    /** For {@link Scanner#hasNextShort(int)}. Blocks. */
    public static boolean hasNextShort(Scanner s, int radix) {
        return inPool(() -> s.hasNextShort(radix));
    }

    /** For {@link Scanner#nextShort()}. Blocks. */
    public static short nextShort(Scanner s) {
        return inPool(() -> s.nextShort());
    }

    /** For {@link Scanner#nextShort(int)}. Blocks. */
    public static short nextShort(Scanner s, int radix) {
        return inPool(() -> s.nextShort(radix));
    }

    /** For {@link Scanner#hasNextInt(int)}. Blocks. */
    public static boolean hasNextInt(Scanner s, int radix) {
        return inPool(() -> s.hasNextInt(radix));
    }

    /** For {@link Scanner#nextInt(int)}. Blocks. */
    public static int nextInt(Scanner s, int radix) {
        return inPool(() -> s.nextInt(radix));
    }

    /** For {@link Scanner#hasNextLong(int)}. Blocks. */
    public static boolean hasNextLong(Scanner s, int radix) {
        return inPool(() -> s.hasNextLong(radix));
    }

    /** For {@link Scanner#nextLong(int)}. Blocks. */
    public static long nextLong(Scanner s, int radix) {
        return inPool(() -> s.nextLong(radix));
    }

    /** For {@link Scanner#hasNextFloat()}. Blocks. */
    public static boolean hasNextFloat(Scanner s) {
        return inPool(() -> s.hasNextFloat());
    }

    /** For {@link Scanner#nextFloat()}. Blocks. */
    public static float nextFloat(Scanner s) {
        return inPool(() -> s.nextFloat());
    }

    /** For {@link Scanner#hasNextBigInteger()}. Blocks. */
    public static boolean hasNextBigInteger(Scanner s) {
        return inPool(() -> s.hasNextBigInteger());
    }

    /** For {@link Scanner#hasNextBigInteger(int)}. Blocks. */
    public static boolean hasNextBigInteger(Scanner s, int radix) {
        return inPool(() -> s.hasNextBigInteger(radix));
    }

    /** For {@link Scanner#nextBigInteger()}. Blocks. */
    public static BigInteger nextBigInteger(Scanner s) {
        return inPool(() -> s.nextBigInteger());
    }

    /** For {@link Scanner#nextBigInteger(int)}. Blocks. */
    public static BigInteger nextBigInteger(Scanner s, int radix) {
        return inPool(() -> s.nextBigInteger(radix));
    }

    /** For {@link Scanner#hasNextBigDecimal()}. Blocks. */
    public static boolean hasNextBigDecimal(Scanner s) {
        return inPool(() -> s.hasNextBigDecimal());
    }

    /** For {@link Scanner#nextBigDecimal()}. Blocks. */
    public static BigDecimal nextBigDecimal(Scanner s) {
        return inPool(() -> s.nextBigDecimal());
    }

    /** For {@link Scanner#close()}. Blocks. */
    public static void close(Scanner s) {
        inPool(() -> {
            s.close();
            return null;
        });
    }
}
