import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** The stack ends in synchronized methods: their locks are left, and those of objects that have nothing to do with it work. */
public class Overflow {
    synchronized int endless(int n) {
        return 1 + endless(n + 1);
    }

    synchronized int waitsBelow(int n) throws InterruptedException {
        if (n == 0) {
            Thread.sleep(1);
            return 0;
        }
        return 1 + waitsBelow(n - 1);
    }

    interface Body {
        void run() throws Exception;
    }

    /** Whether it has ended, by an overflow or not. */
    static boolean ends(Body b, AtomicInteger overflows) throws Exception {
        Thread t = new Thread(() -> {
            try {
                b.run();
            } catch (StackOverflowError e) {
                overflows.incrementAndGet();
            } catch (Exception e) {
                System.out.println(e);
            }
        });
        t.setDaemon(true);
        t.start();
        t.join(60_000);
        return !t.isAlive();
    }

    static int alive(List<Thread> threads) {
        int alive = 0;
        for (Thread t : threads) {
            alive += t.isAlive() ? 1 : 0;
        }
        return alive;
    }

    public static void main(String[] args) throws Exception {
        AtomicInteger overflows = new AtomicInteger();
        boolean all = true;
        for (int i = 0; i < 100 && all; i++) {
            all = ends(() -> new Overflow().endless(0), overflows);
        }
        System.out.println(all + " " + overflows);
        Overflow[] deep = new Overflow[40];
        for (int i = 0; i < deep.length; i++) {
            Overflow o = new Overflow();
            deep[i] = o;
            int calls = 100_000 + i * 5_003;
            all &= ends(() -> o.waitsBelow(calls), overflows);
        }
        List<Thread> users = new ArrayList<>();
        for (Overflow o : deep) {
            Thread t = new Thread(() -> {
                synchronized (o) {
                    o.notify();
                }
            });
            t.setDaemon(true);
            t.start();
            users.add(t);
        }
        for (int waits = 0; waits < 3_000 && alive(users) > 0; waits++) {
            Thread.sleep(20);
        }
        System.out.println(all + " " + (overflows.get() >= 110) + " " + alive(users));
        Object[] unrelated = new Object[200_000];
        for (int i = 0; i < unrelated.length; i++) {
            unrelated[i] = new Object();
        }
        System.out.println(ends(() -> {
            for (Object o : unrelated) {
                synchronized (o) {
                    o.notify();
                }
            }
        }, overflows));
        System.exit(0);
    }
}
