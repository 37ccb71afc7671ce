package lamprey.tests.net;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A plain program: each line that a member sends goes to all members, with the sender's name; the first line is the name. */
final class ChatServer implements Runnable {
    private final ServerSocket server;
    private final List<PrintWriter> members = new ArrayList<>();

    ChatServer() throws IOException {
        server = new ServerSocket(0, 50, InetAddress.getByName("localhost"));
    }

    int port() {
        return server.getLocalPort();
    }

    @Override
    public void run() {
        try {
            while (true) {
                Socket s = server.accept();
                new Thread(() -> serve(s)).start();
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    private void serve(Socket s) {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(s.getInputStream(), StandardCharsets.UTF_8));
            PrintWriter out = new PrintWriter(new OutputStreamWriter(s.getOutputStream(), StandardCharsets.UTF_8), true)) {
            String name = in.readLine();
            synchronized (members) {
                members.add(out);
                out.println("welcome " + name + ", number " + members.size());
                members.notifyAll();
            }
            String line;
            while ((line = in.readLine()) != null) {
                synchronized (members) {
                    for (PrintWriter m : members) {
                        m.printf("%s: %s%n", name, line);
                    }
                }
            }
            synchronized (members) {
                members.remove(out);
                members.notifyAll();
            }
        } catch (IOException e) {
            System.err.println("chat: " + e);
        }
    }

    void awaitMembers(int n) throws InterruptedException {
        synchronized (members) {
            while (members.size() != n) {
                members.wait();
            }
        }
    }

    void close() throws IOException {
        server.close();
    }
}
