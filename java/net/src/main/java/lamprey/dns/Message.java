package lamprey.dns;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A message of the domain name system (RFC 1035): one question, and what a server answered. Names are in lower case, without the final dot.
 *
 * <p>{@link #parse} takes bytes from the network: every length is checked, a compressed name only points backwards, and anything else is a
 * {@link Malformed}.
 */
final class Message {
    static final int A = 1;
    static final int CNAME = 5;
    static final int SOA = 6;
    static final int PTR = 12;
    static final int AAAA = 28;
    static final int IN = 1;

    static final int OK = 0;
    static final int NO_SUCH_NAME = 3;

    private static final int HEADER = 12;
    private static final int MAX_NAME = 255;
    private static final int MAX_LABEL = 63;

    /** The bytes are no message. */
    static final class Malformed extends Exception {
        private static final long serialVersionUID = 1;

        Malformed(String what) {
            super(what);
        }
    }

    /** An entry of the answer, or of the section on authority. */
    static final class Record {
        final String name;
        final int type;
        final long ttl;
        /** Of an address. */
        final byte[] address;
        /** Of a CNAME or PTR. */
        final String target;
        /** Of an SOA: how long an absence is remembered. */
        final long minimum;

        Record(String name, int type, long ttl, byte[] address, String target, long minimum) {
            this.name = name;
            this.type = type;
            this.ttl = ttl;
            this.address = address;
            this.target = target;
            this.minimum = minimum;
        }
    }

    final int id;
    final boolean response;
    final boolean truncated;
    final int code;
    final String name;
    final int type;
    final List<Record> answers = new ArrayList<>();
    final List<Record> authority = new ArrayList<>();

    private Message(int id, int flags, String name, int type) {
        this.id = id;
        this.response = (flags & 0x8000) != 0;
        this.truncated = (flags & 0x0200) != 0;
        this.code = flags & 15;
        this.name = name;
        this.type = type;
    }

    /** Whether {@code name} can be asked for. */
    static boolean isName(String name) {
        if (name.isEmpty() || name.length() > MAX_NAME - 2) {
            return false;
        }
        for (String label : name.split("\\.", -1)) {
            byte[] bytes = label.getBytes(StandardCharsets.ISO_8859_1);
            if (bytes.length == 0 || bytes.length > MAX_LABEL) {
                return false;
            }
            for (int i = 0; i < label.length(); i++) {
                char c = label.charAt(i);
                if (c <= ' ' || c > '~') {
                    return false;
                }
            }
        }
        return true;
    }

    /** A question, with the wish that the server asks others. */
    static byte[] question(int id, String name, int type) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(64);
        int[] header = {id, 0x0100, 1, 0, 0, 0};
        for (int word : header) {
            put(out, word);
        }
        for (String label : name.split("\\.")) {
            byte[] bytes = label.getBytes(StandardCharsets.ISO_8859_1);
            out.write(bytes.length);
            out.write(bytes, 0, bytes.length);
        }
        out.write(0);
        put(out, type);
        put(out, IN);
        return out.toByteArray();
    }

    private static void put(ByteArrayOutputStream out, int word) {
        out.write(word >>> 8);
        out.write(word);
    }

    static Message parse(byte[] bytes, int length) throws Malformed {
        Reader in = new Reader(bytes, length);
        int id = in.word();
        int flags = in.word();
        int questions = in.word();
        int answers = in.word();
        int authorities = in.word();
        in.word();
        if (questions != 1) {
            throw new Malformed(questions + " questions");
        }
        String name = in.name();
        int type = in.word();
        if (in.word() != IN) {
            throw new Malformed("class of the question");
        }
        Message m = new Message(id, flags, name, type);
        if (m.truncated) {
            return m;
        }
        in.records(answers, m.answers);
        in.records(authorities, m.authority);
        return m;
    }

    /** A place in the bytes. */
    private static final class Reader {
        private final byte[] bytes;
        private final int length;
        private int at;

        Reader(byte[] bytes, int length) {
            this.bytes = bytes;
            this.length = length;
        }

        int octet() throws Malformed {
            if (at >= length) {
                throw new Malformed("ends at " + length);
            }
            return bytes[at++] & 0xff;
        }

        int word() throws Malformed {
            return octet() << 8 | octet();
        }

        long number() throws Malformed {
            return (long) word() << 16 | word();
        }

        String name() throws Malformed {
            StringBuilder name = new StringBuilder();
            int end = -1;
            int limit = at;
            while (true) {
                int n = octet();
                if (n == 0) {
                    break;
                }
                if (n >= 0xc0) {
                    int to = (n & 0x3f) << 8 | octet();
                    end = end < 0 ? at : end;
                    if (to >= limit || to < HEADER) {
                        throw new Malformed("a name points to " + to);
                    }
                    at = to;
                    limit = to;
                } else if (n > MAX_LABEL) {
                    throw new Malformed("label of type " + (n >> 6));
                } else {
                    label(n, name);
                }
            }
            if (end >= 0) {
                at = end;
            }
            return name.toString().toLowerCase(Locale.ROOT);
        }

        private void label(int n, StringBuilder name) throws Malformed {
            if (name.length() > 0) {
                name.append('.');
            }
            for (int i = 0; i < n; i++) {
                name.append((char) octet());
            }
            if (name.length() > MAX_NAME) {
                throw new Malformed("a name is longer than " + MAX_NAME);
            }
        }

        void records(int count, List<Record> to) throws Malformed {
            for (int i = 0; i < count; i++) {
                String name = name();
                int type = word();
                int kind = word();
                long ttl = number();
                int size = word();
                int end = at + size;
                if (end > length) {
                    throw new Malformed("a record ends at " + end);
                }
                Record r = kind == IN ? record(name, type, ttl > Integer.MAX_VALUE ? 0 : ttl, size) : null;
                if (r != null) {
                    if (at != end) {
                        throw new Malformed("a record of type " + type + " has " + size + " bytes");
                    }
                    to.add(r);
                }
                at = end;
            }
        }

        private Record record(String name, int type, long ttl, int size) throws Malformed {
            switch (type) {
                case A:
                case AAAA:
                    if (size != (type == A ? 4 : 16)) {
                        throw new Malformed("an address of " + size + " bytes");
                    }
                    byte[] address = new byte[size];
                    System.arraycopy(bytes, at, address, 0, size);
                    at += size;
                    return new Record(name, type, ttl, address, null, 0);
                case CNAME:
                case PTR:
                    return new Record(name, type, ttl, null, name(), 0);
                case SOA:
                    name();
                    name();
                    at += 16;
                    return new Record(name, type, ttl, null, null, number());
                default:
                    return null;
            }
        }
    }
}
