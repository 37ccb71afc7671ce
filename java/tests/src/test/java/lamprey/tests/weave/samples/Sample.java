package lamprey.tests.weave.samples;

import lamprey.tests.weave.run.Y;

/** A computation whose result, exception and trace of side effects are the text of the object. */
public abstract class Sample implements Runnable {
    private final StringBuilder trace = new StringBuilder();

    abstract Object test() throws Exception;

    @Override
    public void run() {
        try {
            log("= " + test());
        } catch (Throwable t) {
            log("! " + t);
        }
    }

    void log(Object o) {
        trace.append(o).append('\n');
    }

    @Override
    public String toString() {
        return trace.toString();
    }

    static int i(int x) {
        return (Integer) Y.y(x);
    }

    static long l(long x) {
        return (Long) Y.y(x);
    }

    static double d(double x) {
        return (Double) Y.y(x);
    }

    static float f(float x) {
        return (Float) Y.y(x);
    }

    static boolean z(boolean x) {
        return (Boolean) Y.y(x);
    }

    static String s(String x) {
        return (String) Y.y(x);
    }

    static char c(char x) {
        return (Character) Y.y(x);
    }

    static void v(Object x) {
        Y.y(x);
    }
}
