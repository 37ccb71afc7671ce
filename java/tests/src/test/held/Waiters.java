import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;

/** Never ends by itself: says that it is ready, and waits to be told to end. */
public class Waiters {
    /** Not transformed. */
    static class Foreign {
        static final CountDownLatch NEVER = new CountDownLatch(1);

        static void hold() {
            try {
                NEVER.await();
            } catch (InterruptedException e) {
                System.out.println(e);
            }
        }
    }

    static Object kept;

    static void fill() {
        for (int size = 1 << 20; size > 2;) {
            try {
                Object[] block = new Object[size];
                block[0] = kept;
                kept = block;
            } catch (OutOfMemoryError e) {
                size /= 2;
            }
        }
    }

    static void run(String how) throws Exception {
        if (how.equals("held")) {
            System.out.println("ready");
            for (int i = 0; i < 4; i++) {
                new Thread(Foreign::hold).start();
            }
        } else if (how.equals("deadlock")) {
            Semaphore a = new Semaphore(0);
            new Thread(() -> a.acquireUninterruptibly()).start();
            System.out.println("ready");
            a.acquireUninterruptibly();
        } else if (how.equals("computes")) {
            System.out.println("ready");
            for (;;) {
                kept = how;
            }
        } else {
            System.out.println("ready");
            System.out.flush();
            fill();
            Thread.sleep(1_000_000);
        }
    }

    public static void main(String[] args) throws Exception {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            kept = null;
            System.out.println("hook");
        }));
        run(args[0]);
    }
}
