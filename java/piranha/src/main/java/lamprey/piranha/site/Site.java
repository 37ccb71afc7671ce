package lamprey.piranha.site;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A web server for tests and figures: one kernel thread, a selector, no library. It is not transformed, and takes little of the time that is
 * measured.
 */
public final class Site implements AutoCloseable {
    private static final int BACKLOG = 4096;

    final Pages pages;
    private final Selector selector;
    private final ServerSocketChannel server;
    private final Thread thread;
    private volatile boolean closed;
    private final AtomicInteger requests = new AtomicInteger();
    private final AtomicInteger connections = new AtomicInteger();
    /** Answers that are due later. */
    private final PriorityQueue<Connection> delayed = new PriorityQueue<>(Comparator.<Connection>comparingLong(c -> c.due));

    /** Starts on the loopback interface. */
    public Site(SiteOptions options) throws IOException {
        pages = new Pages(options);
        selector = Selector.open();
        server = ServerSocketChannel.open();
        server.configureBlocking(false);
        server.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), options.port), BACKLOG);
        server.register(selector, SelectionKey.OP_ACCEPT);
        thread = new Thread(this::run, "site");
        thread.setDaemon(true);
        thread.start();
    }

    /** Serves until it is killed; prints its address first. */
    public static void main(String[] args) throws Exception {
        SiteOptions options;
        try {
            options = SiteOptions.parse(args);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.exit(2);
            return;
        }
        try (Site site = new Site(options)) {
            System.out.println(site.address());
            site.thread.join();
        }
    }

    /** The first page. */
    public String address() {
        return "http://127.0.0.1:" + server.socket().getLocalPort() + "/";
    }

    /** Requests so far. */
    public int requests() {
        return requests.get();
    }

    /** Connections so far. */
    public int connections() {
        return connections.get();
    }

    private void run() {
        try {
            while (!closed) {
                wait(selector);
                for (SelectionKey key : selector.selectedKeys()) {
                    if (key.isValid() && key.isAcceptable()) {
                        accept();
                    } else if (key.isValid()) {
                        ((Connection) key.attachment()).ready();
                    }
                }
                selector.selectedKeys().clear();
            }
            for (SelectionKey key : selector.keys()) {
                key.channel().close();
            }
            selector.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends what is due, then waits for what comes first. */
    private void wait(Selector selector) throws IOException {
        long left = Long.MAX_VALUE;
        while (!delayed.isEmpty()) {
            left = delayed.peek().due - System.nanoTime();
            if (left > 0) {
                break;
            }
            delayed.poll().send();
            left = Long.MAX_VALUE;
        }
        selector.select(left == Long.MAX_VALUE ? 0 : TimeUnit.NANOSECONDS.toMillis(left) + 1);
    }

    private void accept() throws IOException {
        SocketChannel c = server.accept();
        while (c != null) {
            connections.incrementAndGet();
            c.configureBlocking(false);
            c.socket().setTcpNoDelay(true);
            SelectionKey key = c.register(selector, SelectionKey.OP_READ);
            key.attach(new Connection(this, c, key));
            c = server.accept();
        }
    }

    void counted() {
        requests.incrementAndGet();
    }

    void later(Connection c) {
        delayed.add(c);
    }

    /** Closes all connections. Waits until that has been done; an interrupt ends the wait and stays set. */
    @Override
    public void close() {
        closed = true;
        selector.wakeup();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
