package lamprey.dns;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;

/** A name server on kernel threads, whose answers each test writes byte by byte. */
final class TestServer implements AutoCloseable {
    private final DatagramSocket udp;
    private final ServerSocket tcp;
    /** From a question to what is sent back; several packets, or none. */
    private final BiFunction<Question, Boolean, List<byte[]>> answers;
    final Map<String, AtomicInteger> asked = new ConcurrentHashMap<>();

    /** What was asked. */
    static final class Question {
        int id;
        String name;
        int type;
    }

    /** Writes an answer. */
    static final class Reply {
        private final ByteArrayOutputStream out = new ByteArrayOutputStream();
        private int answers;
        private int authorities;
        private final Question q;
        int id;
        int flags = 0x8180;
        String name;

        Reply(Question q) {
            this.q = q;
            this.id = q.id;
            this.name = q.name;
        }

        private static void word(ByteArrayOutputStream out, int w) {
            out.write(w >>> 8);
            out.write(w);
        }

        private static void bytes(ByteArrayOutputStream out, byte[] bytes) {
            out.write(bytes, 0, bytes.length);
        }

        private static void name(ByteArrayOutputStream out, String name) {
            for (String label : name.split("\\.")) {
                out.write(label.length());
                bytes(out, label.getBytes(StandardCharsets.ISO_8859_1));
            }
            out.write(0);
        }

        private void head(String owner, int type, int ttl, int length) {
            if (owner.equals(name)) {
                word(out, 0xc00c);
            } else {
                name(out, owner);
            }
            word(out, type);
            word(out, 1);
            word(out, ttl >>> 16);
            word(out, ttl);
            word(out, length);
        }

        Reply address(String owner, String address, int ttl) throws IOException {
            byte[] bytes = InetAddress.getByName(address).getAddress();
            head(owner, bytes.length == 4 ? 1 : 28, ttl, bytes.length);
            bytes(out, bytes);
            answers++;
            return this;
        }

        Reply name(String owner, int type, String target, int ttl) {
            ByteArrayOutputStream data = new ByteArrayOutputStream();
            name(data, target);
            head(owner, type, ttl, data.size());
            bytes(out, data.toByteArray());
            answers++;
            return this;
        }

        Reply soa(int ttl) {
            ByteArrayOutputStream data = new ByteArrayOutputStream();
            name(data, "a.b");
            name(data, "c.d");
            for (int i = 0; i < 5; i++) {
                word(data, 0);
                word(data, ttl);
            }
            head("test", 6, ttl, data.size());
            bytes(out, data.toByteArray());
            authorities++;
            return this;
        }

        Reply code(int code) {
            flags = flags & ~15 | code;
            return this;
        }

        byte[] bytes() {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            for (int w : new int[] {id, flags, 1, answers, authorities, 0}) {
                word(all, w);
            }
            name(all, name);
            word(all, q.type);
            word(all, 1);
            bytes(all, out.toByteArray());
            return all.toByteArray();
        }
    }

    TestServer(BiFunction<Question, Boolean, List<byte[]>> answers) throws IOException {
        this.answers = answers;
        ServerSocket free = null;
        DatagramSocket same = null;
        while (free == null) {
            // Until a port is free for both.
            same = new DatagramSocket(0, InetAddress.getLoopbackAddress());
            try {
                free = new ServerSocket(same.getLocalPort(), 5, InetAddress.getLoopbackAddress());
            } catch (java.net.BindException e) {
                same.close();
            }
        }
        this.udp = same;
        this.tcp = free;
        daemon(this::serveUdp);
        daemon(this::serveTcp);
    }

    private static void daemon(Runnable r) {
        Thread t = new Thread(r);
        t.setDaemon(true);
        t.start();
    }

    InetSocketAddress address() {
        return (InetSocketAddress) udp.getLocalSocketAddress();
    }

    int asked(String name) {
        AtomicInteger n = asked.get(name);
        return n == null ? 0 : n.get();
    }

    private Question parse(byte[] bytes) {
        Question q = new Question();
        q.id = (bytes[0] & 0xff) << 8 | bytes[1] & 0xff;
        List<String> labels = new ArrayList<>();
        int at = 12;
        while (bytes[at] != 0) {
            labels.add(new String(bytes, at + 1, bytes[at], StandardCharsets.ISO_8859_1));
            at += bytes[at] + 1;
        }
        q.name = String.join(".", labels);
        q.type = (bytes[at + 1] & 0xff) << 8 | bytes[at + 2] & 0xff;
        asked.computeIfAbsent(q.name, n -> new AtomicInteger()).incrementAndGet();
        return q;
    }

    private void serveUdp() {
        try {
            while (true) {
                DatagramPacket p = new DatagramPacket(new byte[600], 600);
                udp.receive(p);
                for (byte[] answer : answers.apply(parse(p.getData()), false)) {
                    udp.send(new DatagramPacket(answer, answer.length, p.getSocketAddress()));
                }
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    private void serveTcp() {
        try {
            while (true) {
                try (Socket s = tcp.accept()) {
                    DataInputStream in = new DataInputStream(s.getInputStream());
                    byte[] question = new byte[in.readUnsignedShort()];
                    in.readFully(question);
                    for (byte[] answer : answers.apply(parse(question), true)) {
                        ByteArrayOutputStream framed = new ByteArrayOutputStream();
                        Reply.word(framed, answer.length);
                        Reply.bytes(framed, answer);
                        s.getOutputStream().write(framed.toByteArray());
                    }
                }
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    @Override
    public void close() throws IOException {
        udp.close();
        tcp.close();
    }
}
