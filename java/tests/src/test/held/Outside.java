import java.io.IOException;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;

/** All threads wait for something that comes after some seconds, from outside of them: no deadlock. */
public class Outside {
    static final long SECONDS = 3;

    static void timer(CountDownLatch end) {
        new Timer(true).schedule(new TimerTask() {
            @Override
            public void run() {
                end.countDown();
            }
        }, SECONDS * 1000);
    }

    static void sleeper(CountDownLatch end) {
        new Thread(() -> {
            try {
                Thread.sleep(SECONDS * 1000);
            } catch (InterruptedException e) {
                System.out.println(e);
            }
            end.countDown();
        }).start();
    }

    static void socket(CountDownLatch end) throws IOException {
        ServerSocket s = new ServerSocket(0);
        new Thread(() -> {
            try {
                s.setSoTimeout((int) SECONDS * 1000);
                s.accept();
            } catch (SocketTimeoutException e) {
                end.countDown();
            } catch (IOException e) {
                System.out.println(e);
            }
        }).start();
    }

    static void process(CountDownLatch end) throws IOException {
        Process p = new ProcessBuilder("sleep", "" + SECONDS).start();
        new Thread(() -> {
            try {
                p.waitFor();
            } catch (InterruptedException e) {
                System.out.println(e);
            }
            end.countDown();
        }).start();
    }

    static void kernel(CountDownLatch end) {
        ForkJoinPool.commonPool().execute(() -> {
            long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            while (System.nanoTime() < until) {
                java.util.concurrent.locks.LockSupport.parkNanos(10_000_000);
            }
            end.countDown();
        });
    }

    static void stage(CountDownLatch end) {
        CompletableFuture.runAsync(() -> kernel(end), ForkJoinPool.commonPool());
    }

    static void limit(CountDownLatch end) throws InterruptedException {
        if (!new CountDownLatch(1).await(SECONDS, TimeUnit.SECONDS)) {
            end.countDown();
        }
    }

    public static void main(String[] args) throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        switch (args[0]) {
            case "timer": timer(end); break;
            case "sleeper": sleeper(end); break;
            case "socket": socket(end); break;
            case "process": process(end); break;
            case "kernel": kernel(end); break;
            case "stage": stage(end); break;
            case "limit": limit(end); break;
            default: System.out.println("ready"); break;
        }
        end.await();
        System.out.println("woken");
    }
}
