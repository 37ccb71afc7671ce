import java.lang.reflect.Field;
import java.util.concurrent.Semaphore;

/** Waits, is woken late, and computes, once the recording has been noticed. */
public class Recorded {
    static final int ROUNDS = 10;

    static void nap() {
        try {
            for (int i = 0; i < ROUNDS; i++) {
                Thread.sleep(50);
            }
        } catch (InterruptedException e) {
            System.out.println(e);
        }
    }

    static void answer(Semaphore asked, Semaphore answered) {
        for (int i = 0; i < ROUNDS; i++) {
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
        Field on = Class.forName("lamprey.Flight").getDeclaredField("on");
        on.setAccessible(true);
        while (!on.getBoolean(null)) {
            Thread.sleep(20);
        }
        Semaphore asked = new Semaphore(0);
        Semaphore answered = new Semaphore(0);
        new Thread(Recorded::nap, "sleeper").start();
        new Thread(() -> answer(asked, answered), "partner").start();
        for (int i = 0; i < ROUNDS; i++) {
            asked.release();
            compute();
            answered.acquire();
        }
    }
}
