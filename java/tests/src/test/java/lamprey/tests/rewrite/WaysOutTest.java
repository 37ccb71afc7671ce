package lamprey.tests.rewrite;

import static lamprey.tests.rewrite.Sources.lines;
import static lamprey.tests.rewrite.Sources.same;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What README advises where the JDK calls a function that has to wait. */
@Timeout(240)
class WaysOutTest {
    private static final String NAP = "static int nap(int i) { try { Thread.sleep(1); Thread.yield(); } catch (InterruptedException e) { throw new RuntimeException(e); } return i; }";

    @Test
    void a_kernel_thread_calls_a_parallel_stream() throws Exception {
        same(lines("import java.util.stream.*; public class P implements Runnable { static String result = \"\"; " + NAP,
            "public void run() { try { nap(1); result += lamprey.Blocking.call(() -> IntStream.range(0, 100).parallel().map(i -> nap(i)).sum()); } catch (Exception e) { result += e; } } }"));
    }

    @Test
    void a_kernel_thread_parses_what_comes_late() throws Exception {
        same(lines("import java.net.*; import javax.xml.parsers.*; public class P implements Runnable { static String result = \"\"; " + NAP,
            "static void send(ServerSocket server) { try (Socket s = server.accept()) { s.getOutputStream().write(\"<a><b/>\".getBytes()); for (int i = 0; i < 30; i++) nap(i); s.getOutputStream().write(\"</a>\".getBytes()); }",
            "catch (java.io.IOException e) { result += e; } }",
            "public void run() { try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) { Thread t = new Thread(() -> send(server)); t.start();",
            "try (Socket s = new Socket(server.getInetAddress(), server.getLocalPort())) { DocumentBuilder b = DocumentBuilderFactory.newInstance().newDocumentBuilder();",
            "result += lamprey.Blocking.call(() -> b.parse(s.getInputStream())).getDocumentElement().getTagName(); } t.join(); } catch (Exception e) { result += e; } } }"));
    }

    @Test
    void kernel_threads_handle_requests() throws Exception {
        same(lines("import com.sun.net.httpserver.*; import java.io.*; import java.net.*; import java.util.concurrent.*; public class P implements Runnable { static String result = \"\"; " + NAP,
            "static void answer(HttpExchange x) throws IOException { nap(1); x.sendResponseHeaders(200, 2); nap(1); try (OutputStream out = x.getResponseBody()) { out.write(\"ok\".getBytes()); } }",
            "static void serve(ExecutorService e) throws Exception { HttpServer s = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0); if (e != null) s.setExecutor(e);",
            "s.createContext(\"/\", P::answer); s.start(); try (BufferedReader r = new BufferedReader(new InputStreamReader(",
            "new URL(\"http://\" + s.getAddress().getAddress().getHostAddress() + \":\" + s.getAddress().getPort() + \"/\").openStream()))) { result += r.readLine(); } finally { s.stop(0); } }",
            "public void run() { nap(1); ForkJoinPool pool = new ForkJoinPool(2); try { serve(null); serve(pool); } catch (Exception e) { result += e; } finally { pool.shutdown(); } } }"));
    }
}
