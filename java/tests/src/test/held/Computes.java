import java.io.ByteArrayOutputStream;
import java.io.PrintStream;

/** As many threads as there are carriers compute, until that is told; one more is ready. */
public class Computes {
    /** What would make a line of its own in a terminal. */
    static final String FORGED = "\u001b[2J\nlamprey: forged";
    static volatile boolean told;
    static double kept;

    static void compute(PrintStream err, ByteArrayOutputStream said, long limit) {
        long end = System.nanoTime() + limit;
        double x = 1;
        while (!told && System.nanoTime() < end) {
            for (int i = 0; i < 100_000; i++) {
                x = Math.sin(x) + 1;
            }
            told |= said.toString().contains("at Computes.compute");
        }
        kept = x;
        err.print(said);
    }

    public static void main(String[] args) throws Exception {
        PrintStream err = System.err;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        System.setErr(new PrintStream(said, true));
        long limit = args.length > 0 ? 500_000_000L : 150_000_000_000L;
        Thread first = new Thread(() -> compute(err, said, limit), "first" + FORGED);
        Thread second = new Thread(() -> compute(err, said, limit), "second" + FORGED);
        Thread[] others = new Thread[20];
        first.start();
        second.start();
        for (int i = 0; i < others.length; i++) {
            others[i] = new Thread(() -> kept++);
            others[i].start();
        }
        first.join();
        second.join();
        for (Thread t : others) {
            t.join();
        }
    }
}
