package lamprey.tests.mode;

/** A program that sleeps. */
public final class Naps {
    private Naps() {}

    /** The program. */
    public static void main(String[] args) {
        nap();
    }

    /** What a thread that sleeps ends with; "slept" if all is well. */
    public static String ended() throws InterruptedException {
        String[] said = {"slept"};
        Thread t = new Thread(Naps::nap);
        t.setUncaughtExceptionHandler((thread, error) -> said[0] = error.toString());
        t.start();
        t.join();
        return said[0];
    }

    /** Sleeps. */
    public static Runnable body() {
        return Naps::nap;
    }

    private static void nap() {
        try {
            Thread.sleep(1);
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
