package lamprey.tests.net;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** A plain program: HTTP/1.0, GET of the files of a folder, one thread a connection. */
final class FileServer implements Runnable {
    private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final Path folder;

    FileServer(Path folder) throws IOException {
        this.folder = folder;
    }

    int port() {
        return server.getLocalPort();
    }

    @Override
    public void run() {
        try {
            while (true) {
                Socket s = server.accept();
                new Thread(() -> {
                    try {
                        serve(s);
                    } catch (IOException e) {
                        System.err.println("files: " + e);
                    }
                }).start();
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        int c;
        while ((c = in.read()) >= 0 && c != '\n') {
            if (c != '\r') {
                line.append((char) c);
            }
        }
        return line.toString();
    }

    private void serve(Socket s) throws IOException {
        try (InputStream in = new BufferedInputStream(s.getInputStream()); OutputStream out = new BufferedOutputStream(s.getOutputStream())) {
            String[] request = line(in).split(" ");
            while (!line(in).isEmpty()) {
                // The fields are not looked at.
            }
            Path file = request.length < 2 ? folder : folder.resolve(request[1].substring(1)).normalize();
            boolean found = file.startsWith(folder) && Files.isRegularFile(file);
            byte[] body = found ? Files.readAllBytes(file) : "none\n".getBytes(StandardCharsets.US_ASCII);
            out.write(("HTTP/1.0 " + (found ? "200 OK" : "404 Not Found") + "\r\nContent-Length: " + body.length + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
            out.write(body);
        } finally {
            s.close();
        }
    }

    void close() throws IOException {
        server.close();
    }
}
