import java.util.ArrayList;
import java.util.List;

/** Starts many threads that all sleep at the same time, and adds up what they return. Plain Java: nothing here names a library. */
public class Sleepers {
    private long sum;

    private synchronized void add(int n) {
        sum += n;
    }

    private void sleepAndAdd(int n) {
        try {
            Thread.sleep(1000);
            add(n);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int count = args.length > 0 ? Integer.parseInt(args[0]) : 100_000;
        Sleepers sleepers = new Sleepers();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int n = i;
            Thread t = new Thread(() -> sleepers.sleepAndAdd(n));
            t.start();
            threads.add(t);
        }
        for (Thread t : threads) {
            t.join();
        }
        System.out.println(count + " threads slept at the same time; their sum is " + sleepers.sum);
    }
}
