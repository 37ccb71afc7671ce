import java.util.concurrent.atomic.AtomicInteger;

/** Endless recursion that waits now and then, at each level, in a constructor, with locks held: ends in a StackOverflowError that can be caught, and others go on. */
public class Recursion {
    static final AtomicInteger FINALLY = new AtomicInteger();
    static final Object LOCK = new Object();
    final Recursion next;

    Recursion(int n) {
        nap();
        next = new Recursion(n + 1);
    }

    static void nap() {
        try {
            Thread.sleep(0, 1000);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static int seldom(int n) {
        if (n % 500 == 0) {
            nap();
        }
        return seldom(n + 1) + 1;
    }

    static int always(int n) {
        Thread.yield();
        return always(n + 1) + 1;
    }

    static int locked(int n) {
        FINALLY.incrementAndGet();
        synchronized (LOCK) {
            try {
                nap();
                return locked(n + 1) + 1;
            } finally {
                FINALLY.decrementAndGet();
            }
        }
    }

    interface Body {
        Object run() throws Exception;
    }

    static void check(String name, Body b) throws Exception {
        Thread t = new Thread(() -> {
            try {
                b.run();
                System.out.println(name + " returned");
            } catch (StackOverflowError e) {
                nap();
                System.out.println(name + " " + (e.getStackTrace().length > 100));
            } catch (Throwable e) {
                System.out.println(name + " " + e);
            }
        });
        t.start();
        t.join();
    }

    public static void main(String[] args) throws Exception {
        Thread other = new Thread(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                Thread.yield();
            }
        });
        other.start();
        check("seldom", () -> seldom(0));
        check("always", () -> always(0));
        check("locked", () -> locked(0));
        System.out.println(FINALLY.get() + " " + Thread.holdsLock(LOCK));
        synchronized (LOCK) {
            nap();
        }
        check("constructors", () -> new Recursion(0));
        other.interrupt();
        other.join();
        // Within the limit.
        check("deep", () -> deep(1500));
    }

    static int deep(int n) {
        if (n == 0) {
            nap();
            return 0;
        }
        return deep(n - 1) + 1;
    }
}
