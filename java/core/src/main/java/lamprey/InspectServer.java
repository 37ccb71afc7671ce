package lamprey;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lamprey.instrument.RuntimeThread;

/**
 * An open endpoint, by {@link Inspect#serve}.
 *
 * <p>It is served by kernel threads of its own, so it answers when all carriers are held. They are in a group of threads that {@link Standstill} knows, as are those that the JDK's server starts, so an
 * endpoint keeps no deadlock from being noticed; no code of the program runs in them.
 */
public final class InspectServer implements AutoCloseable {
    /** So many requests are answered at a time by threads of the server; who comes then waits. */
    private static final int MOST = 4;
    private static final Pattern ADDRESS = Pattern.compile("(?:\\[([^\\]]+)\\]|([^:]*)):(\\d{1,5})");
    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~-]{16,}");
    /** The page may load and ask nothing but what is served here, and no other page may show it. */
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none';"
        + " frame-ancestors 'none'";

    private final HttpServer server;
    private final ThreadPoolExecutor threads;
    private final String token;

    private InspectServer(InetSocketAddress address, String token) throws IOException {
        this.token = token;
        server = HttpServer.create(address, 16);
        // `lamprey top PID` finds the address by this name.
        String name = "lamprey:" + server.getAddress().getPort();
        threads = new ThreadPoolExecutor(1, MOST, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), r -> new RuntimeThread(r, name), new ThreadPoolExecutor.CallerRunsPolicy());
        threads.prestartAllCoreThreads();
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    static InspectServer open(String address, String token) throws IOException {
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
        InetSocketAddress at = new InetSocketAddress(host, Integer.parseInt(m.group(3)));
        InspectServer[] made = new InspectServer[1];
        Throwable[] failed = new Throwable[1];
        // What the server starts is in the group of who makes it.
        Thread maker = new RuntimeThread(RuntimeThread.served(), () -> {
            try {
                made[0] = new InspectServer(at, token);
            } catch (IOException | RuntimeException e) {
                failed[0] = e;
            } catch (LinkageError e) {
                failed[0] = new UnsupportedOperationException("this JVM has been made without the module jdk.httpserver, which the endpoint needs", e);
            }
        }, "lamprey-inspect");
        maker.start();
        join(maker);
        if (failed[0] instanceof IOException) {
            throw new IOException(address + ": " + failed[0].getMessage(), failed[0]);
        }
        if (failed[0] != null) {
            throw Parking.<RuntimeException>sneak(failed[0]);
        }
        return made[0];
    }

    /** Takes no time to speak of, so the caller's carrier is kept. */
    private static void join(Thread maker) {
        boolean interrupted = false;
        while (maker.isAlive()) {
            try {
                maker.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return server.getAddress();
    }

    /** Closes the endpoint: it takes no more connections, and those that are open end. Never blocks. */
    @Override
    public void close() {
        server.stop(0);
        threads.shutdown();
    }

    private void handle(HttpExchange e) throws IOException {
        try {
            InspectRoutes.Answer a;
            try {
                a = InspectRoutes.answer(InspectRequest.of(e, token));
            } catch (InspectRequest.Refused refused) {
                a = InspectRoutes.Answer.error(refused.status, refused.getMessage());
            } catch (RuntimeException | StackOverflowError failed) {
                a = InspectRoutes.Answer.error(500, "a fault of the endpoint: " + failed);
            }
            send(e, a);
        } finally {
            e.close();
        }
    }

    private static void send(HttpExchange e, InspectRoutes.Answer a) throws IOException {
        Headers h = e.getResponseHeaders();
        h.set("Content-Type", a.kind);
        // By this the command `lamprey` knows that it has not asked another service.
        h.set("Lamprey-Endpoint", "1");
        h.set("Cache-Control", "no-store");
        h.set("Content-Security-Policy", POLICY);
        h.set("Cross-Origin-Resource-Policy", "same-origin");
        h.set("Referrer-Policy", "no-referrer");
        h.set("X-Content-Type-Options", "nosniff");
        if (a.status == 401) {
            h.set("WWW-Authenticate", "Bearer");
        } else if (a.status == 405) {
            h.set("Allow", "GET, HEAD");
        }
        if (e.getRequestMethod().equals("HEAD")) {
            e.sendResponseHeaders(a.status, -1);
            return;
        }
        e.sendResponseHeaders(a.status, a.body.length == 0 ? -1 : a.body.length);
        try (OutputStream out = e.getResponseBody()) {
            out.write(a.body);
        }
    }

    @Override
    public String toString() {
        return "InspectServer[" + address() + "]";
    }
}
