package lamprey.tests.concurrent;

import java.io.IOException;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Parts of {@link Programs}: waits for what the JDK notices. More threads wait than there are carriers, and who ends the wait is one more thread. */
final class Events {
    private static final int MANY = Runtime.getRuntime().availableProcessors() + 2;

    private Events() {}

    /** A wait, and how it ended. */
    private interface Wait {
        Object end() throws Exception;
    }

    /** Threads that wait; each says how that has ended. */
    private static final class Waiting {
        final CountDownLatch begun;
        final ConcurrentLinkedQueue<String> ends = new ConcurrentLinkedQueue<>();
        final List<Thread> threads = new ArrayList<>();

        /** Returns as they are about to wait. */
        Waiting(List<Wait> waits) throws InterruptedException {
            begun = new CountDownLatch(waits.size());
            for (Wait w : waits) {
                Thread t = new Thread(() -> {
                    begun.countDown();
                    String end;
                    try {
                        end = String.valueOf(w.end());
                    } catch (InterruptedException e) {
                        end = "interrupted";
                    } catch (Exception e) {
                        end = e.getClass().getSimpleName();
                    }
                    ends.add(end + (Thread.currentThread().isInterrupted() ? " still " : " "));
                });
                threads.add(t);
                t.start();
            }
            begun.await();
        }

        static String interrupted(Wait w) throws InterruptedException {
            Waiting one = new Waiting(Collections.singletonList(w));
            one.threads.get(0).interrupt();
            return one.ended();
        }

        String ended() throws InterruptedException {
            for (Thread t : threads) {
                t.join();
            }
            List<String> all = new ArrayList<>(ends);
            Collections.sort(all);
            return String.join("", all);
        }
    }

    static Object selectors() throws Exception {
        StringBuilder all = new StringBuilder();
        List<Selector> selectors = new ArrayList<>();
        List<Wait> waits = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            Selector s = Selector.open();
            selectors.add(s);
            waits.add(i % 2 == 0 ? s::select : () -> s.select(100_000));
        }
        Waiting waiting = new Waiting(waits);
        for (Selector s : selectors) {
            s.wakeup();
        }
        all.append(waiting.ended().replace(" ", "").replaceAll("0+", "woken "));
        Selector s = selectors.get(0);
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).configureBlocking(false);
            SelectionKey key = server.register(s, SelectionKey.OP_ACCEPT);
            waiting = new Waiting(Collections.singletonList(() -> s.select() + "" + s.selectedKeys().remove(key) + key.isAcceptable()));
            SocketChannel.open(server.getLocalAddress()).close();
            all.append(waiting.ended());
        }
        s.selectNow();
        all.append(Waiting.interrupted(s::select)).append(Waiting.interrupted(() -> s.select(0)));
        all.append(Waiting.interrupted(() -> {
            Thread.currentThread().interrupt();
            return s.select();
        }));
        all.append(s.select(1));
        try {
            s.select(-1);
        } catch (IllegalArgumentException e) {
            all.append("negative ");
        }
        for (Selector each : selectors) {
            each.close();
        }
        try {
            s.select();
        } catch (ClosedSelectorException e) {
            all.append("closed");
        }
        return all;
    }

    static Object references() throws Exception {
        StringBuilder all = new StringBuilder();
        ReferenceQueue<Object> q = new ReferenceQueue<>();
        List<Reference<?>> references = new ArrayList<>();
        List<Wait> waits = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            references.add(new WeakReference<>(q, q));
            waits.add(i % 2 == 0 ? () -> references.contains(q.remove()) : () -> references.contains(q.remove(100_000)));
        }
        Waiting waiting = new Waiting(waits);
        for (Reference<?> r : references) {
            r.enqueue();
        }
        all.append(waiting.ended().replace(" ", "").replaceAll("(true)+", "removed "));
        Reference<Object> last = new WeakReference<>(q, q);
        all.append(last.enqueue()).append(q.remove() == last).append(q.remove(1));
        all.append(Waiting.interrupted(q::remove)).append(Waiting.interrupted(() -> q.remove(0)));
        try {
            q.remove(-1);
        } catch (IllegalArgumentException e) {
            all.append("negative");
        }
        return all;
    }

    static Object watches() throws Exception {
        StringBuilder all = new StringBuilder();
        List<WatchService> services = new ArrayList<>();
        List<Wait> waits = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            WatchService w = FileSystems.getDefault().newWatchService();
            services.add(w);
            waits.add(i % 2 == 0 ? w::take : () -> w.poll(100, TimeUnit.SECONDS));
        }
        Waiting waiting = new Waiting(waits);
        for (WatchService w : services) {
            w.close();
        }
        all.append(waiting.ended().replace(" ", "").replaceAll("(" + ClosedWatchServiceException.class.getSimpleName() + ")+", "closed "));
        Path folder = Files.createTempDirectory("lamprey-watch");
        try (WatchService w = FileSystems.getDefault().newWatchService()) {
            WatchKey key = folder.register(w, StandardWatchEventKinds.ENTRY_CREATE);
            waiting = new Waiting(Collections.singletonList(() -> w.take() == key ? key.pollEvents().get(0).context() : "another"));
            Files.delete(Files.createFile(folder.resolve("made")));
            all.append(waiting.ended()).append(w.poll(1, TimeUnit.MILLISECONDS));
            all.append(Waiting.interrupted(w::take)).append(Waiting.interrupted(() -> w.poll(100, TimeUnit.SECONDS)));
        } finally {
            Files.delete(folder);
        }
        return all;
    }

    private static Object got(AsynchronousServerSocketChannel server) throws Exception {
        ByteBuffer b = ByteBuffer.allocate(1);
        try (AsynchronousSocketChannel s = server.accept().get()) {
            s.read(b).get(100, TimeUnit.SECONDS);
        }
        return b.get(0);
    }

    static Object asynchronous() throws Exception {
        StringBuilder all = new StringBuilder();
        List<AsynchronousServerSocketChannel> servers = new ArrayList<>();
        List<Wait> waits = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            AsynchronousServerSocketChannel server = AsynchronousServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            servers.add(server);
            waits.add(() -> got(server));
        }
        Waiting waiting = new Waiting(waits);
        for (AsynchronousServerSocketChannel server : servers) {
            try (AsynchronousSocketChannel s = AsynchronousSocketChannel.open()) {
                s.connect(server.getLocalAddress()).get();
                s.write(ByteBuffer.wrap(new byte[] {7})).get();
            }
        }
        all.append(waiting.ended().replace(" ", "").replaceAll("7+", "sent "));
        Future<AsynchronousSocketChannel> never = servers.get(0).accept();
        try {
            never.get(1, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            all.append("late ");
        }
        all.append(Waiting.interrupted(never::get));
        for (AsynchronousServerSocketChannel server : servers) {
            server.close();
        }
        try {
            never.get();
        } catch (ExecutionException e) {
            all.append(e.getCause() instanceof IOException);
        }
        Path file = Files.createTempFile("lamprey", "read");
        try (AsynchronousFileChannel f = AsynchronousFileChannel.open(file)) {
            all.append(f.read(ByteBuffer.allocate(1), 0).get());
        } finally {
            Files.delete(file);
        }
        return all;
    }
}
