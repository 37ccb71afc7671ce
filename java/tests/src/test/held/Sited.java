import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URL;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
import lamprey.Inspect;
import lamprey.InspectServer;

/** Two locks in two orders; prints what the endpoint tells of that. */
public class Sited {
    static void both(ReentrantLock one, ReentrantLock other, CountDownLatch met) {
        one.lock();
        try {
            met.countDown();
            met.await();
            other.lock();
        } catch (InterruptedException e) {
            System.out.println(e);
        }
    }

    public static void main(String[] args) throws Exception {
        ReentrantLock a = new ReentrantLock();
        ReentrantLock b = new ReentrantLock();
        CountDownLatch met = new CountDownLatch(2);
        new Thread(() -> both(a, b, met), "there").start();
        new Thread(() -> both(b, a, met), "back").start();
        while (Inspect.stuck().isEmpty()) {
            Thread.sleep(20);
        }
        try (InspectServer s = Inspect.serve("127.0.0.1:0")) {
            for (String path : new String[] {"threads", "groups", "graph", "stuck"}) {
                URL u = new URL("http://127.0.0.1:" + s.address().getPort() + "/api/v1/" + path);
                System.out.println(new BufferedReader(new InputStreamReader(u.openStream(), "UTF-8")).readLine());
            }
        }
        System.exit(0);
    }
}
