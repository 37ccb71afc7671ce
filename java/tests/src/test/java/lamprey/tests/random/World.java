package lamprey.tests.random;

import java.util.Arrays;
import lamprey.instrument.Execution;
import lamprey.instrument.MethodInfo;
import lamprey.instrument.Primitive;

/**
 * What generated code calls: primitives that suspend where the plan says so, and a record of what happened, which must not depend on the plan.
 * One for each kernel thread that tests.
 *
 * <p>{@link #enter} bounds the number of calls, {@link #tick} the number of turns of loops: a program ends, whatever was generated. Code that does
 * not end although the plain program did is broken; {@link #stuck} then never returns and the campaign reports it.
 */
public final class World {
    private static final int CALLS = 40;
    private static final int TICKS = 4000;

    private static final MethodInfo[] PRIMITIVES = new MethodInfo[9];
    private static final int INT = 0, LONG = 1, FLOAT = 2, DOUBLE = 3, REF = 4, NONE = 5, THROWING = 6, LOCK = 7, UNLOCK = 8;

    static {
        String[] signatures = {"yi(II)I", "yl(JI)J", "yf(FI)F", "yd(DI)D", "ya(Ljava/lang/Object;I)Ljava/lang/Object;", "yv(I)V", "yx(II)I",
            "lock(Ljava/lang/Object;I)V", "unlock(Ljava/lang/Object;I)V"};
        for (int i = 0; i < signatures.length; i++) {
            int desc = signatures[i].indexOf('(');
            PRIMITIVES[i] = MethodInfo.primitive(World.class, signatures[i].substring(0, desc), signatures[i].substring(desc));
        }
    }

    private int calls;
    private int ticks;
    private int yields;
    private int locks;
    private long trace;
    private StringBuilder text;
    private Plan plan = Plan.NEVER;
    /** What the suspended primitive returns or throws. */
    Object value;
    long prim;
    double real;
    Throwable error;
    /** How often a thread was suspended, and in each place. */
    long suspensions;
    final long[] suspendedIn = new long[Where.values().length];
    private final Door door = new Door();
    /** Called instead of going on forever. */
    Runnable stuck = () -> { };

    static World of() {
        return ((Worker) Thread.currentThread()).world;
    }

    void begin(Plan plan, boolean withText) {
        this.plan = plan;
        calls = CALLS;
        ticks = yields = locks = 0;
        trace = 1;
        text = withText ? new StringBuilder() : null;
    }

    /** What happened so far. */
    String record() {
        return "trace " + Long.toHexString(trace) + ", " + yields + " primitives, " + ticks + " ticks, " + locks + " locks held, "
            + calls + " calls left" + (text == null ? "" : "\n    " + text);
    }

    /** Primitives that were called. */
    int yields() {
        return yields;
    }

    private void note(char tag, long v) {
        trace = (trace * 31 + tag) * 1_000_003 + v;
        trace ^= trace >>> 29;
        if (text != null) {
            text.append(tag).append(v).append(' ');
        }
    }

    /** Called at the head of each method: false if it is to return at once. */
    public static boolean enter(int method) {
        World w = of();
        w.note('m', method);
        return --w.calls > 0;
    }

    /** Called on each turn of a loop. */
    public static void tick() {
        World w = of();
        if (++w.ticks > TICKS) {
            if (w.ticks > 20 * TICKS) {
                w.stuck.run();
            }
            throw new Boom("too long");
        }
    }

    /** Records a value. */
    public static void t(int v) {
        of().note('i', v);
    }

    /** Records a value. */
    public static void t(long v) {
        of().note('l', v);
    }

    /** Records a value. */
    public static void t(float v) {
        of().note('f', Float.floatToIntBits(v));
    }

    /** Records a value. */
    public static void t(double v) {
        of().note('d', Double.doubleToLongBits(v));
    }

    /** Records a value. */
    public static void t(Object v) {
        of().note('a', hash(v));
    }

    /** What {@code String.concat} does, but for the end of long ones: a loop that doubles a string would fill the memory. */
    public static String concat(String a, String b) {
        String both = a.concat(b);
        return both.length() > 200 ? both.substring(0, 200) : both;
    }

    private static int hash(Object v) {
        if (v == null || v instanceof String || v instanceof Number) {
            return v == null ? 0 : v.hashCode();
        }
        if (v instanceof int[]) {
            return Arrays.hashCode((int[]) v);
        }
        if (v instanceof long[]) {
            return Arrays.hashCode((long[]) v);
        }
        if (v instanceof Object[]) {
            return ((Object[]) v).length + 77;
        }
        return v instanceof Boom ? ((Boom) v).getMessage().hashCode() : v.getClass().getName().hashCode();
    }

    private boolean suspends(char tag, long v, int where) {
        note(tag, v);
        int n = yields++;
        if (!plan.suspendsAt(n)) {
            return false;
        }
        suspensions++;
        for (int bits = where; bits != 0; bits &= bits - 1) {
            suspendedIn[Integer.numberOfTrailingZeros(bits)]++;
        }
        value = null;
        prim = 0xDEAD_BEEFL;
        real = -1;
        error = null;
        return true;
    }

    private static void suspend(int primitive) {
        Execution.current().suspend(PRIMITIVES[primitive]);
    }

    /** Returns {@code v}, perhaps later. */
    @Primitive
    public static int yi(int v, int where) {
        World w = of();
        if (w.suspends('I', v, where)) {
            w.prim = v;
            suspend(INT);
        }
        return v;
    }

    /** Returns {@code v}, perhaps later. */
    @Primitive
    public static long yl(long v, int where) {
        World w = of();
        if (w.suspends('L', v, where)) {
            w.prim = v;
            suspend(LONG);
        }
        return v;
    }

    /** Returns {@code v}, perhaps later. */
    @Primitive
    public static float yf(float v, int where) {
        World w = of();
        if (w.suspends('F', Float.floatToIntBits(v), where)) {
            w.real = v;
            suspend(FLOAT);
        }
        return v;
    }

    /** Returns {@code v}, perhaps later. */
    @Primitive
    public static double yd(double v, int where) {
        World w = of();
        if (w.suspends('D', Double.doubleToLongBits(v), where)) {
            w.real = v;
            suspend(DOUBLE);
        }
        return v;
    }

    /** Returns {@code v}, perhaps later. */
    @Primitive
    public static Object ya(Object v, int where) {
        World w = of();
        if (w.suspends('A', hash(v), where)) {
            w.value = v;
            suspend(REF);
        }
        return v;
    }

    /** Returns, perhaps later. */
    @Primitive
    public static void yv(int where) {
        if (of().suspends('V', 0, where)) {
            suspend(NONE);
        }
    }

    /** Returns {@code v} or throws, perhaps later. */
    @Primitive
    public static int yx(int v, int where) {
        World w = of();
        Boom thrown = (v & 3) == 1 ? new Boom("yx " + v) : (v & 3) == 2 ? new Boom.Sub("yx " + v) : null;
        if (w.suspends('X', v, where)) {
            w.prim = v;
            w.error = thrown;
            suspend(THROWING);
            return 0;
        }
        if (thrown != null) {
            throw thrown;
        }
        return v;
    }

    /** Counts a lock, perhaps after a while. */
    @Primitive
    public static void lock(Object o, int where) {
        World w = of();
        w.locks++;
        if (w.suspends('(', hash(o), where)) {
            suspend(LOCK);
        }
    }

    /** The end of a lock, perhaps after a while. */
    @Primitive
    public static void unlock(Object o, int where) {
        World w = of();
        w.locks--;
        if (w.suspends(')', hash(o), where)) {
            suspend(UNLOCK);
        }
    }

    /** The object with the primitive that is no static method. */
    public static Door door() {
        return of().door;
    }

    /** Has a primitive that is called by its receiver. */
    public static final class Door {
        private static final MethodInfo PASS = MethodInfo.primitive(Door.class, "pass", "(JI)J");

        Door() {}

        /** Returns {@code v}, perhaps later. */
        @Primitive
        public long pass(long v, int where) {
            World w = of();
            if (w.suspends('P', v, where)) {
                w.prim = v;
                Execution.current().suspend(PASS);
            }
            return v;
        }
    }
}
