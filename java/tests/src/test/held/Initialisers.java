import java.util.concurrent.CountDownLatch;

/** A static initialiser that takes a lock whose owner needs a carrier, while more threads than carriers want the class. */
public class Initialisers {
    static final Object LOCK = new Object();

    static class Holder {
        static final String VALUE = make();

        static String make() {
            synchronized (LOCK) {
                return "made";
            }
        }
    }

    public static void main(String[] args) throws Exception {
        CountDownLatch locked = new CountDownLatch(1);
        Thread owner = new Thread(() -> {
            synchronized (LOCK) {
                locked.countDown();
                try {
                    Thread.sleep(200);
                } catch (InterruptedException e) {
                    System.out.println(e);
                }
            }
        });
        owner.start();
        locked.await();
        Thread[] users = new Thread[8];
        for (int i = 0; i < users.length; i++) {
            users[i] = new Thread(() -> System.out.println(Holder.VALUE));
            users[i].start();
        }
        for (Thread t : users) {
            t.join();
        }
        System.out.println("end");
    }
}
