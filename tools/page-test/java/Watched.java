import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import lamprey.Inspect;

/** A program of light threads to look at, until it is killed: prints its address. Arguments are names for threads; a half of a character is added. */
public class Watched {
    static void both(Object one, Object other, CountDownLatch met) throws InterruptedException {
        synchronized (one) {
            met.countDown();
            met.await();
            synchronized (other) {
                System.out.println("both");
            }
        }
    }

    interface Body {
        void run() throws InterruptedException;
    }

    static void start(String name, Body body) {
        new Thread(() -> {
            try {
                body.run();
            } catch (InterruptedException e) {
                System.out.println(e);
            }
        }, name).start();
    }

    static void receive(BlockingQueue<String> from) throws InterruptedException {
        System.out.println(from.take());
    }

    static void compute() {
        for (double x = 1; ; x = Math.sin(x) + 1) {
            if (x < 0) {
                System.out.println(x);
            }
            Thread.yield();
        }
    }

    public static void main(String[] names) throws Exception {
        Object a = new Object();
        Object b = new Object();
        CountDownLatch met = new CountDownLatch(2);
        BlockingQueue<String> never = new SynchronousQueue<>();
        start(names.length > 0 ? names[0] : "there", () -> both(a, b, met));
        start(names.length > 1 ? names[1] : "back", () -> both(b, a, met));
        for (String name : names) {
            start(name, () -> receive(never));
        }
        start("half \ud83d", () -> receive(never));
        // Few enough to be seen without scrolling, if there are names to look for.
        for (int i = 0; i < (names.length > 0 ? 3 : 50); i++) {
            start("client " + i, () -> receive(never));
        }
        start("computes", Watched::compute);
        BlockingQueue<Integer> ticks = new ArrayBlockingQueue<>(4);
        start("printer", () -> {
            while (ticks.take() >= 0) {
                Thread.yield();
            }
        });
        System.out.println("http:/" + Inspect.serve("127.0.0.1:0").address() + "/");
        for (int i = 0; ; i++) {
            ticks.put(i);
            Thread.sleep(20);
        }
    }
}
