package lamprey.dns;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.net.SocketTimeoutException;
import java.security.SecureRandom;
import lamprey.PicoRuntime;
import lamprey.io.DataInputStream;
import lamprey.net.DatagramSocket;
import lamprey.net.Socket;

/**
 * Asks one server one name for several types at once, by UDP from a port that the system picks, and by TCP what came truncated.
 *
 * <p>Only what comes from that server's address (the socket is connected), has the id of a question, and repeats its name and type, is an
 * answer; anything else is ignored, and the wait goes on.
 */
final class Exchange {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int MOST_UDP = 4096;

    private final InetSocketAddress server;
    private final int timeoutMillis;
    private final String name;
    private final int[] types;
    private final int[] ids;
    /** What was answered, at the place of the type; null for nothing. */
    final Message[] responses;
    /** Why there is a null, if that is known. */
    IOException failure;

    Exchange(InetSocketAddress server, int timeoutMillis, String name, int... types) {
        this.server = server;
        this.timeoutMillis = timeoutMillis;
        this.name = name;
        this.types = types;
        this.ids = new int[types.length];
        this.responses = new Message[types.length];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = RANDOM.nextInt(0x10000);
            if (i > 0 && ids[i] == ids[0]) {
                ids[i] ^= 1;
            }
        }
    }

    /** Blocks until all is answered, or the time is over. @throws java.io.InterruptedIOException on an interrupt */
    void run() throws IOException {
        DatagramSocket socket = new DatagramSocket();
        try {
            socket.connect(server);
            for (int i = 0; i < types.length; i++) {
                byte[] question = Message.question(ids[i], name, types[i]);
                socket.send(new DatagramPacket(question, question.length));
            }
            receive(socket);
        } catch (SocketTimeoutException e) {
            failure = new SocketTimeoutException("no answer from " + server + " within " + timeoutMillis + " ms");
        } catch (PortUnreachableException e) {
            failure = new IOException("no name server at " + server, e);
        } finally {
            socket.close();
        }
        for (int i = 0; i < types.length; i++) {
            if (responses[i] != null && responses[i].truncated) {
                responses[i] = null;
                overTcp(i);
            }
        }
    }

    private void receive(DatagramSocket socket) throws IOException {
        long deadline = PicoRuntime.nanoTime() + timeoutMillis * 1_000_000L;
        byte[] buffer = new byte[MOST_UDP];
        int open = types.length;
        while (open > 0) {
            long left = (deadline - PicoRuntime.nanoTime() + 999_999) / 1_000_000;
            if (left <= 0) {
                throw new SocketTimeoutException();
            }
            socket.setSoTimeout((int) left);
            DatagramPacket packet = new DatagramPacket(buffer, buffer.length);
            socket.receive(packet);
            if (accept(buffer, packet.getLength())) {
                open--;
            }
        }
    }

    /** Whether it is the first answer to one of the questions. */
    private boolean accept(byte[] bytes, int length) {
        Message m;
        try {
            m = Message.parse(bytes, length);
        } catch (Message.Malformed e) {
            return false;
        }
        for (int i = 0; i < types.length; i++) {
            if (responses[i] == null && answers(m, i)) {
                responses[i] = m;
                return true;
            }
        }
        return false;
    }

    private boolean answers(Message m, int i) {
        return m.response && m.id == ids[i] && m.type == types[i] && m.name.equals(name);
    }

    private void overTcp(int i) throws IOException {
        Socket socket = new Socket();
        try {
            socket.connect(server, timeoutMillis);
            socket.setSoTimeout(timeoutMillis);
            byte[] question = Message.question(ids[i], name, types[i]);
            byte[] framed = new byte[question.length + 2];
            framed[0] = (byte) (question.length >>> 8);
            framed[1] = (byte) question.length;
            System.arraycopy(question, 0, framed, 2, question.length);
            socket.getOutputStream().write(framed, 0, framed.length);
            DataInputStream in = new DataInputStream(socket.getInputStream());
            byte[] response = new byte[in.readUnsignedShort()];
            in.readFully(response, 0, response.length);
            Message m = Message.parse(response, response.length);
            if (answers(m, i) && !m.truncated) {
                responses[i] = m;
            }
        } catch (Message.Malformed e) {
            failure = new IOException("malformed answer from " + server + ": " + e.getMessage());
        } catch (SocketTimeoutException | java.net.SocketException | java.io.EOFException e) {
            failure = e;
        } finally {
            socket.close();
        }
    }
}
