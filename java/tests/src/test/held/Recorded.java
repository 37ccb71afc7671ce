import java.util.concurrent.Semaphore;

/** Waits, is woken late, and computes, for some seconds. */
public class Recorded {
    static void nap() {
        try {
            for (int i = 0; i < 60; i++) {
                Thread.sleep(50);
            }
        } catch (InterruptedException e) {
            System.out.println(e);
        }
    }

    static void answer(Semaphore asked, Semaphore answered) {
        for (int i = 0; i < 60; i++) {
            asked.acquireUninterruptibly();
            answered.release();
        }
    }

    static void compute() {
        long end = System.nanoTime() + 50_000_000;
        while (System.nanoTime() < end) {
            Thread.interrupted();
        }
    }

    public static void main(String[] args) throws Exception {
        Semaphore asked = new Semaphore(0);
        Semaphore answered = new Semaphore(0);
        new Thread(Recorded::nap, "sleeper").start();
        new Thread(() -> answer(asked, answered), "partner").start();
        for (int i = 0; i < 60; i++) {
            asked.release();
            compute();
            answered.acquire();
        }
    }
}
