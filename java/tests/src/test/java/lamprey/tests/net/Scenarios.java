package lamprey.tests.net;

import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.PrintStream;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URL;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.Scanner;

/** What the programs are made to do; each leaves a text that is the same whatever threads run it. */
final class Scenarios implements Runnable {
    private final String name;
    private String result;

    Scenarios(String name) {
        this.name = name;
    }

    @Override
    public void run() {
        try {
            result = go();
        } catch (Exception e) {
            java.io.StringWriter trace = new java.io.StringWriter();
            e.printStackTrace(new java.io.PrintWriter(trace));
            result = trace.toString();
        }
    }

    /** What it has led to. */
    @Override
    public String toString() {
        return result;
    }

    private String go() throws Exception {
        switch (name) {
            case "chat": return chat();
            case "files": return files();
            case "scan": return scan();
            case "data": return data();
            case "objects": return objects();
            default: return failures();
        }
    }

    private static final class Member {
        final Socket socket;
        final BufferedReader in;
        final PrintStream out;

        Member(int port, String name) throws IOException {
            socket = new Socket("localhost", port);
            in = new BufferedReader(new InputStreamReader(socket.getInputStream(), "UTF-8"));
            out = new PrintStream(socket.getOutputStream(), true, "UTF-8");
            out.println(name);
        }
    }

    private static String chat() throws Exception {
        ChatServer server = new ChatServer();
        new Thread(server).start();
        StringBuilder trace = new StringBuilder();
        Member[] members = new Member[20];
        for (int i = 0; i < members.length; i++) {
            members[i] = new Member(server.port(), "n\u00e4me" + i);
            trace.append(members[i].in.readLine()).append('\n');
        }
        server.awaitMembers(members.length);
        for (int i = 0; i < members.length; i++) {
            members[i].out.println("hello, I am " + i + " \u2603");
            for (Member m : members) {
                trace.append(m.in.readLine()).append(m == members[0] ? "\n" : "");
            }
        }
        for (Member m : members) {
            m.socket.shutdownOutput();
            trace.append(m.in.readLine());
        }
        server.awaitMembers(0);
        server.close();
        return trace.toString();
    }

    private static String files() throws Exception {
        Path folder = Files.createTempDirectory("lamprey-files");
        byte[] content = new byte[200_000];
        new Random(2).nextBytes(content);
        Path file = Files.write(folder.resolve("a.bin"), content);
        FileServer server = new FileServer(folder);
        new Thread(server).start();
        String base = "http://localhost:" + server.port() + "/";
        int hash = 1;
        try (InputStream in = new URL(base + "a.bin").openStream()) {
            byte[] b = new byte[777];
            int n;
            while ((n = in.read(b)) >= 0) {
                for (int i = 0; i < n; i++) {
                    hash = 31 * hash + b[i];
                }
            }
        }
        String missing = "found";
        try {
            new URL(base + "b.bin").openStream().close();
        } catch (FileNotFoundException e) {
            missing = "not found";
        }
        HttpURLConnection c = (HttpURLConnection) new URL(base + "../x").openConnection();
        String text = c.getResponseCode() + " " + c.getResponseMessage() + " " + c.getContentLength();
        server.close();
        Files.delete(file);
        Files.delete(folder);
        return hash + (hash == java.util.Arrays.hashCode(content) ? " right " : " wrong ") + missing + " " + text;
    }

    private static String scan() throws Exception {
        try (ServerSocket one = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            int port = one.getLocalPort();
            return "" + PortScanner.open("localhost", port, Math.min(port + 30, 65535)).contains(port);
        }
    }

    private static void serveData(ServerSocket server) {
        try (Socket s = server.accept(); DataInputStream in = new DataInputStream(s.getInputStream()); DataOutputStream out = new DataOutputStream(s.getOutputStream())) {
            while (true) {
                int kind = in.readInt();
                if (kind < 0) {
                    return;
                }
                out.writeLong(in.readLong() + kind);
                out.writeUTF(in.readUTF() + "!");
                out.writeDouble(in.readDouble() / 2);
                out.flush();
            }
        } catch (IOException e) {
            System.err.println("data: " + e);
        }
    }

    private static String data() throws Exception {
        StringBuilder trace = new StringBuilder();
        try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            Thread t = new Thread(() -> serveData(server));
            t.start();
            try (Socket s = new Socket(server.getInetAddress(), server.getLocalPort())) {
                DataInputStream in = new DataInputStream(s.getInputStream());
                DataOutputStream out = new DataOutputStream(s.getOutputStream());
                for (int i = 0; i < 50; i++) {
                    out.writeInt(i);
                    out.writeLong(i * 1_000_000_007L);
                    out.writeUTF("t\u20acxt" + i);
                    out.writeDouble(i);
                    trace.append(in.readLong()).append(in.readUTF()).append(in.readDouble());
                }
                out.writeInt(-1);
                t.join();
                trace.append(in.read()).append(out.size());
            }
        }
        return trace.toString();
    }

    private static void serveObjects(ServerSocket server) {
        try (Socket s = server.accept()) {
            ObjectOutputStream out = new ObjectOutputStream(s.getOutputStream());
            out.flush();
            ObjectInputStream in = new ObjectInputStream(s.getInputStream());
            Object o;
            while (!(o = in.readObject()).equals("end")) {
                out.writeObject(o);
                out.writeInt(in.readInt());
                out.flush();
            }
            Scanner words = new Scanner(s.getInputStream());
            PrintStream answers = new PrintStream(s.getOutputStream(), true);
            while (words.hasNextLine()) {
                answers.println(words.nextLine().toUpperCase());
            }
        } catch (IOException | ClassNotFoundException e) {
            System.err.println("objects: " + e);
        }
    }

    private static String objects() throws Exception {
        StringBuilder trace = new StringBuilder();
        try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            new Thread(() -> serveObjects(server)).start();
            try (Socket s = new Socket(server.getInetAddress(), server.getLocalPort())) {
                ObjectOutputStream out = new ObjectOutputStream(s.getOutputStream());
                out.flush();
                ObjectInputStream in = new ObjectInputStream(s.getInputStream());
                for (int i = 0; i < 10; i++) {
                    out.writeObject(new java.util.ArrayList<>(java.util.Arrays.asList("a" + i, i, new int[i].length)));
                    out.writeInt(i);
                    out.flush();
                    trace.append(in.readObject()).append(in.readInt());
                }
                out.writeObject("end");
                out.flush();
                PrintStream p = new PrintStream(s.getOutputStream(), true);
                BufferedReader lines = new BufferedReader(new InputStreamReader(s.getInputStream()));
                p.println("one two");
                trace.append(lines.readLine());
                p.println("three");
                trace.append(lines.readLine());
            }
        }
        return trace.toString();
    }

    private static String failures() throws Exception {
        StringBuilder trace = new StringBuilder();
        ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        try (Socket s = new Socket()) {
            s.connect(new InetSocketAddress("localhost", server.getLocalPort()), 100_000);
            s.setSoTimeout(10);
            s.getInputStream().read();
        } catch (SocketTimeoutException e) {
            trace.append(e.getMessage());
        }
        int port = server.getLocalPort();
        server.close();
        try {
            new Socket("localhost", port).close();
        } catch (ConnectException e) {
            // JDK 8 says the reason twice.
            trace.append(e.getMessage().replace(" (Connection refused)", ""));
        }
        try {
            InetAddress.getByName("no..such").isReachable(1);
        } catch (UnknownHostException e) {
            trace.append("unknown");
        }
        trace.append(new InetSocketAddress("127.0.0.1", 80)).append(InetAddress.getAllByName("127.0.0.1").length).append(InetAddress.getByName("localhost").isLoopbackAddress());
        return trace.toString();
    }
}
