/** Threads that ask for a large stack have it, whether they wait or not. */
public class Stack {
    static int depth(int n) {
        return n == 0 ? 0 : 1 + depth(n - 1);
    }

    static int waiting(int n) throws InterruptedException {
        if (n == 0) {
            Thread.sleep(1);
            return 0;
        }
        return 1 + waiting(n - 1);
    }

    public static void main(String[] args) throws Exception {
        Thread t = new Thread(null, () -> {
            try {
                System.out.println(depth(200_000) + " " + waiting(20_000));
                Thread child = new Thread(() -> System.out.println("child"), "child");
                child.start();
                child.join();
                synchronized (Stack.class) {
                    Stack.class.wait(1);
                }
                System.out.println(Thread.currentThread().getName() + " " + Thread.currentThread().isDaemon());
                throw new IllegalStateException("end");
            } catch (InterruptedException | StackOverflowError e) {
                System.out.println(e);
            }
        }, "large", 256L << 20);
        t.setUncaughtExceptionHandler((thread, e) -> System.out.println(thread.getName() + " " + e.getMessage()));
        t.start();
        t.join();
        System.out.println(t.isAlive() + " " + t.getState());
        // Not waited for by main: the program ends when it has ended.
        new Thread(null, () -> System.out.println("last"), "last", 8L << 20).start();
    }
}
