package lamprey;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lamprey.instrument.RuntimeThread;

/**
 * An open endpoint, by {@link Inspect#serve}.
 *
 * <p>One kernel thread of its own serves it, so it answers when all carriers are held. It waits for no client: it reads and writes what can be read and written at once, so clients that are slow
 * or silent keep nobody waiting. There are {@link #MOST} connections at a time; for a further one, that is closed which has gone longest without a request that was answered. The thread keeps no
 * deadlock from being noticed ({@link Standstill} knows it as a {@link RuntimeThread}), and runs no code of the program.
 */
public final class InspectServer implements AutoCloseable {
    /** Most connections at a time. */
    static final int MOST = 32;
    /** How long a client may take for the head of a request, and how long a connection stays open between two. */
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(10);
    private static final Pattern ADDRESS = Pattern.compile("(?:\\[([^\\]]+)\\]|([^:]*)):(\\d{1,5})");
    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~-]{16,}");

    private final ServerSocketChannel listener;
    private final Selector selector;
    private final InetSocketAddress address;
    private final String token;
    private final long patience;
    /** The one that has gone longest without an answered request comes first. Of the endpoint's thread. */
    private final Set<InspectConnection> connections = new LinkedHashSet<>();
    private volatile boolean closed;

    private InspectServer(InetSocketAddress at, String token, long patience) throws IOException {
        this.token = token;
        this.patience = patience;
        listener = ServerSocketChannel.open();
        Selector made = null;
        try {
            listener.bind(at, MOST);
            listener.configureBlocking(false);
            address = (InetSocketAddress) listener.getLocalAddress();
            made = Selector.open();
            listener.register(made, SelectionKey.OP_ACCEPT);
        } catch (IOException | RuntimeException e) {
            listener.close();
            if (made != null) {
                made.close();
            }
            throw e;
        }
        selector = made;
    }

    static InspectServer open(String address, String token) throws IOException {
        return open(address, token, PATIENCE);
    }

    static InspectServer open(String address, String token, long patience) throws IOException {
        if (token != null && !TOKEN.matcher(token).matches()) {
            throw new IllegalArgumentException("a token has at least 16 letters, digits and characters of `-._~`");
        }
        Matcher m = ADDRESS.matcher(address);
        if (!m.matches() || Integer.parseInt(m.group(3)) > 65535) {
            throw new IllegalArgumentException("`" + address + "` is no address to listen at; write one with a port, such as 127.0.0.1:7070, or 127.0.0.1:0 for a free one");
        }
        InetAddress host = InetAddress.getByName(m.group(1) != null ? m.group(1) : m.group(2));
        if (token == null && !host.isLoopbackAddress()) {
            throw new IllegalArgumentException("`" + address + "` can be reached from other machines: that needs a token (Inspect.serveWithToken), or take 127.0.0.1");
        }
        InspectServer s;
        try {
            s = new InspectServer(new InetSocketAddress(host, Integer.parseInt(m.group(3))), token, patience);
        } catch (IOException e) {
            throw new IOException(address + ": " + e.getMessage(), e);
        }
        // `lamprey top PID` finds the address by this name.
        try {
            new RuntimeThread(s::serve, "lamprey:" + s.address.getPort()).start();
        } catch (OutOfMemoryError e) {
            shut(s.listener);
            shut(s.selector);
            throw e;
        }
        return s;
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return address;
    }

    /** Closes the endpoint: it takes no more connections, and those that are open end. Never blocks. */
    @Override
    public void close() {
        closed = true;
        shut(listener);
        selector.wakeup();
    }

    private void serve() {
        try {
            while (!closed && listener.isOpen()) {
                selector.select(pause());
                // Whoever interrupts all threads that it finds does not mean this one.
                Thread.interrupted();
                for (SelectionKey k : selector.selectedKeys()) {
                    if (k.attachment() == null) {
                        accept();
                    } else {
                        goOn((InspectConnection) k.attachment());
                    }
                }
                selector.selectedKeys().clear();
                long now = System.nanoTime();
                for (InspectConnection c : new ArrayList<>(connections)) {
                    if (c.deadline() - now <= 0 && !c.expire()) {
                        drop(c);
                    }
                }
            }
            if (!closed) {
                System.err.println("lamprey: the endpoint at " + address + " has been closed by an interrupt of its thread");
            }
        } catch (IOException e) {
            System.err.println("lamprey: the endpoint at " + address + " has failed: " + e);
        } finally {
            connections.forEach(InspectConnection::close);
            shut(listener);
            shut(selector);
        }
    }

    /** How long nothing happens by itself, in milliseconds; 0 for ever. */
    private long pause() {
        long now = System.nanoTime();
        long least = Long.MAX_VALUE;
        for (InspectConnection c : connections) {
            least = Math.min(least, Math.max(c.deadline() - now, 0));
        }
        return least == Long.MAX_VALUE ? 0 : TimeUnit.NANOSECONDS.toMillis(least) + 1;
    }

    /** One at a time: those that have come are served between. */
    private void accept() {
        try {
            SocketChannel c = listener.accept();
            if (c != null) {
                if (connections.size() >= MOST) {
                    drop(connections.iterator().next());
                }
                connections.add(new InspectConnection(c, selector, token, patience));
            }
        } catch (IOException e) {
            // No descriptor is left, or the client has gone. Perhaps there will be one.
            if (connections.isEmpty()) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
            } else {
                drop(connections.iterator().next());
            }
        }
    }

    private void goOn(InspectConnection c) {
        try {
            int answered = c.answered();
            if (!c.goOn()) {
                drop(c);
            } else if (c.answered() != answered) {
                connections.remove(c);
                connections.add(c);
            }
        } catch (IOException | RuntimeException | StackOverflowError | OutOfMemoryError e) {
            drop(c);
        }
    }

    private void drop(InspectConnection c) {
        connections.remove(c);
        c.close();
    }

    private static void shut(AutoCloseable c) {
        try {
            c.close();
        } catch (Exception e) {
            // It is over already.
        }
    }

    @Override
    public String toString() {
        return "InspectServer[" + address() + "]";
    }
}
