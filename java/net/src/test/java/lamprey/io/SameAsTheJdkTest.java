package lamprey.io;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Reader;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The streams of this package do what the JDK's do: the same random operations on both, on sources that give little at a time. */
@Timeout(240)
class SameAsTheJdkTest {
    private static final int ROUNDS = 3000;

    /** Gives random numbers of bytes, the same for the same seed. */
    static final class Slow extends InputStream {
        private final ByteArrayInputStream in;
        private final Random random;

        Slow(byte[] bytes, long seed) {
            in = new ByteArrayInputStream(bytes);
            random = new Random(seed);
        }

        @Override
        public int read() {
            return in.read();
        }

        @Override
        public int read(byte[] b, int off, int len) {
            return len == 0 ? 0 : in.read(b, off, 1 + random.nextInt(Math.min(len, 7)));
        }

        @Override
        public int available() {
            return 0;
        }
    }

    private static byte[] bytes(Random r) {
        byte[] bytes = new byte[r.nextInt(60)];
        r.nextBytes(bytes);
        for (int i = 0; i < bytes.length; i++) {
            if (r.nextInt(5) == 0) {
                bytes[i] = (byte) "\n\ra\n".charAt(r.nextInt(4));
            }
        }
        return bytes;
    }

    private interface Step {
        Object run() throws Exception;
    }

    private static String outcome(Step step) {
        try {
            Object o = step.run();
            return o instanceof byte[] ? Arrays.toString((byte[]) o) : o instanceof char[] ? Arrays.toString((char[]) o) : String.valueOf(o);
        } catch (Exception e) {
            return e.getClass().getName() + (e instanceof IOException ? ": " + e.getMessage() : "");
        }
    }

    private static String inputSteps(InputStream in, long seed) {
        Random r = new Random(seed);
        List<String> trace = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            int n = r.nextInt(12);
            switch (r.nextInt(9)) {
                case 0: trace.add("read " + outcome(in::read)); break;
                case 1: case 2: {
                    byte[] b = new byte[n + 2];
                    int off = r.nextInt(2);
                    trace.add("read[] " + outcome(() -> in.read(b, off, n)) + outcome(() -> b));
                    break;
                }
                case 3: trace.add("skip " + outcome(() -> in.skip(n - 1))); break;
                case 4: in.mark(n); trace.add("mark"); break;
                case 5: trace.add("reset " + outcome(() -> { in.reset(); return ""; })); break;
                case 6: trace.add("available " + outcome(in::available)); break;
                case 7: trace.add("readNBytes " + outcome(() -> Since9.readNBytes(in, n))); break;
                default:
                    if (r.nextInt(8) == 0) {
                        trace.add(r.nextBoolean() ? "readAll " + outcome(() -> Since9.readAllBytes(in)) : "close " + outcome(() -> { in.close(); return ""; }));
                    }
            }
        }
        return trace.toString();
    }

    private static void compareInputs(java.util.function.Function<InputStream, InputStream> jdk, java.util.function.Function<InputStream, InputStream> ours) {
        for (int seed = 0; seed < ROUNDS; seed++) {
            byte[] bytes = bytes(new Random(seed));
            String expected = inputSteps(jdk.apply(new Slow(bytes, seed)), seed);
            assertEquals(expected, inputSteps(ours.apply(new Slow(bytes, seed)), seed), "seed " + seed);
        }
    }

    @Test
    void buffered_input() {
        compareInputs(in -> new java.io.BufferedInputStream(in, 8), in -> new BufferedInputStream(in, 8));
        compareInputs(java.io.BufferedInputStream::new, BufferedInputStream::new);
    }

    @Test
    void pushback_input() {
        compareInputs(java.io.PushbackInputStream::new, PushbackInputStream::new);
    }

    @Test
    void filtered_input() {
        compareInputs(in -> new java.io.FilterInputStream(in) {}, in -> new FilterInputStream(in) {});
    }

    @Test
    void sequence_input() {
        compareInputs(in -> new java.io.SequenceInputStream(in, new ByteArrayInputStream(new byte[] {1, 2, 3})),
            in -> new SequenceInputStream(in, new ByteArrayInputStream(new byte[] {1, 2, 3})));
    }

    @Test
    void input_of_ones_own() {
        compareInputs(in -> new java.io.InputStream() {
            @Override
            public int read() throws IOException {
                return in.read();
            }
        }, in -> new lamprey.io.InputStream() {
            @Override
            public int read() throws IOException {
                return in.read();
            }
        });
    }

    private static String dataSteps(java.io.DataInput in, long seed) {
        Random r = new Random(seed);
        List<String> trace = new ArrayList<>();
        for (int i = 0; i < 14; i++) {
            byte[] b = new byte[r.nextInt(6)];
            switch (r.nextInt(14)) {
                case 0: trace.add(outcome(in::readBoolean)); break;
                case 1: trace.add(outcome(in::readByte)); break;
                case 2: trace.add(outcome(in::readUnsignedByte)); break;
                case 3: trace.add(outcome(in::readShort)); break;
                case 4: trace.add(outcome(in::readUnsignedShort)); break;
                case 5: trace.add(outcome(in::readChar)); break;
                case 6: trace.add(outcome(in::readInt)); break;
                case 7: trace.add(outcome(in::readLong)); break;
                case 8: trace.add(outcome(in::readFloat)); break;
                case 9: trace.add(outcome(in::readDouble)); break;
                case 10: trace.add(outcome(in::readLine)); break;
                case 11: trace.add(outcome(() -> { in.readFully(b); return b; })); break;
                case 12: trace.add(outcome(() -> in.skipBytes(b.length))); break;
                default: trace.add(outcome(() -> in.readUTF().length()).replaceAll("java.io.UTFDataFormatException.*", "malformed"));
            }
        }
        return trace.toString();
    }

    @Test
    void data_input() {
        for (int seed = 0; seed < ROUNDS; seed++) {
            byte[] bytes = bytes(new Random(seed));
            if (bytes.length > 3 && seed % 3 == 0) {
                bytes[0] = 0;
                bytes[1] = (byte) (bytes.length / 2);
            }
            assertEquals(dataSteps(new java.io.DataInputStream(new Slow(bytes, seed)), seed), dataSteps(new DataInputStream(new Slow(bytes, seed)), seed),
                "seed " + seed);
        }
    }

    @Test
    void data_output_and_utf() throws IOException {
        for (int seed = 0; seed < ROUNDS; seed++) {
            Random r = new Random(seed);
            StringBuilder s = new StringBuilder();
            for (int i = r.nextInt(20); i > 0; i--) {
                s.append((char) (r.nextInt(3) == 0 ? r.nextInt(65536) : r.nextInt(200)));
            }
            ByteArrayOutputStream a = new ByteArrayOutputStream();
            ByteArrayOutputStream b = new ByteArrayOutputStream();
            java.io.DataOutputStream jdk = new java.io.DataOutputStream(a);
            DataOutputStream ours = new DataOutputStream(b);
            for (java.io.DataOutput out : new java.io.DataOutput[] {jdk, ours}) {
                Random q = new Random(seed);
                out.writeInt(q.nextInt());
                out.writeLong(q.nextLong());
                out.writeShort(q.nextInt());
                out.writeChar(q.nextInt());
                out.writeByte(q.nextInt());
                out.writeBoolean(q.nextBoolean());
                out.writeFloat(q.nextFloat());
                out.writeDouble(q.nextDouble());
                out.writeBytes(s.toString());
                out.writeChars(s.toString());
                out.writeUTF(s.toString());
                out.write(new byte[] {1, 2, 3});
                out.write(q.nextInt());
            }
            assertEquals(Arrays.toString(a.toByteArray()), Arrays.toString(b.toByteArray()), "seed " + seed);
            assertEquals(jdk.size(), ours.size());
            byte[] bytes = b.toByteArray();
            DataInputStream in = new DataInputStream(new Slow(bytes, seed));
            in.readFully(new byte[30 + 3 * s.length()]);
            assertEquals(s.toString(), in.readUTF());
        }
    }

    private static String readerSteps(Reader in, long seed) {
        Random r = new Random(seed);
        List<String> trace = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            int n = r.nextInt(12);
            switch (r.nextInt(8)) {
                case 0: trace.add("read " + outcome(in::read)); break;
                case 1: {
                    char[] c = new char[n + 2];
                    trace.add("read[] " + outcome(() -> in.read(c, 1, n)) + outcome(() -> c));
                    break;
                }
                case 2: trace.add("skip " + outcome(() -> in.skip(n))); break;
                case 3: trace.add("mark " + outcome(() -> { in.mark(n); return ""; })); break;
                case 4: trace.add("reset " + outcome(() -> { in.reset(); return ""; })); break;
                case 5: trace.add("ready " + outcome(in::ready)); break;
                case 6:
                    if (in instanceof java.io.BufferedReader) {
                        trace.add("line " + outcome(((java.io.BufferedReader) in)::readLine));
                    }
                    break;
                default:
                    if (r.nextInt(10) == 0) {
                        trace.add("close " + outcome(() -> { in.close(); return ""; }));
                    }
            }
        }
        return trace.toString();
    }

    private static void compareReaders(java.util.function.Function<InputStream, Reader> jdk, java.util.function.Function<InputStream, Reader> ours) {
        for (int seed = 0; seed < ROUNDS; seed++) {
            byte[] bytes = bytes(new Random(seed));
            assertEquals(readerSteps(jdk.apply(new Slow(bytes, seed)), seed), readerSteps(ours.apply(new Slow(bytes, seed)), seed), "seed " + seed);
        }
    }

    @Test
    void decoded_input() {
        for (String name : new String[] {"UTF-8", "ISO-8859-1", "UTF-16", "Shift_JIS"}) {
            Charset charset = Charset.forName(name);
            compareReaders(in -> new java.io.InputStreamReader(in, charset), in -> new InputStreamReader(in, charset));
        }
    }

    @Test
    void buffered_reader() {
        compareReaders(in -> new java.io.BufferedReader(new java.io.InputStreamReader(in), 4), in -> new BufferedReader(new InputStreamReader(in), 4));
        compareReaders(in -> new java.io.BufferedReader(new java.io.InputStreamReader(in)), in -> new BufferedReader(new InputStreamReader(in)));
    }

    @Test
    void lines_of_a_reader() {
        for (int seed = 0; seed < ROUNDS; seed++) {
            String text = new String(bytes(new Random(seed)), Charset.forName("ISO-8859-1"));
            Supplier<Object[]> jdk = () -> new java.io.BufferedReader(new StringReader(text), 3).lines().toArray();
            assertEquals(Arrays.toString(jdk.get()), Arrays.toString(new BufferedReader(new StringReader(text), 3).lines().toArray()));
        }
    }

    /** Notes each call. */
    private static final class Noting extends OutputStream {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int flushes;
        int closes;
        int failAt = Integer.MAX_VALUE;
        boolean failed;

        @Override
        public void write(int b) throws IOException {
            if (bytes.size() >= failAt) {
                failed = true;
                throw new IOException("full");
            }
            bytes.write(b);
        }

        @Override
        public void flush() {
            flushes++;
        }

        @Override
        public void close() {
            closes++;
        }

        @Override
        public String toString() {
            // Whether it is flushed after a failure is not compared.
            return Arrays.toString(bytes.toByteArray()) + " closed " + (closes > 0) + " flushed " + (failed || flushes > 0);
        }
    }

    private static void print(Random r, java.io.PrintStream s, Writer w, List<String> trace) {
        Object[] args = {r.nextInt(), "t\u00e4xt\n", null, 1.5, 'c', true, 7L, 2.5f};
        Object x = args[r.nextInt(args.length)];
        java.io.PrintWriter p = w instanceof java.io.PrintWriter ? (java.io.PrintWriter) w : null;
        switch (r.nextInt(14)) {
            case 0: if (s != null) { s.print(x); } else if (p != null) { p.print(x); } break;
            case 1: if (s != null) { s.println(x); } else if (p != null) { p.println(x); } break;
            case 2: if (s != null) { s.println(); } else if (p != null) { p.println(); } break;
            case 3: if (s != null) { s.printf("%s-%5d|%n", x, 3); } else if (p != null) { p.printf("%s-%5d|%n", x, 3); } break;
            case 4: if (s != null) { s.write(65); } else { trace.add(outcome(() -> { w.write(65); return ""; })); } break;
            case 5: if (s != null) { s.print("xyz".toCharArray()); } else { trace.add(outcome(() -> { w.write("xyz".toCharArray(), 1, 2); return ""; })); } break;
            case 6: if (s != null) { s.append("abc", 1, 2).append('d'); } else { trace.add(outcome(() -> w.append("abc", 1, 2).append('d') == w)); } break;
            case 7: if (s != null) { s.write(new byte[] {1, 2, 3}, 1, 2); } else { trace.add(outcome(() -> { w.write("hello", 1, 3); return ""; })); } break;
            case 8: if (s != null) { s.flush(); } else { trace.add(outcome(() -> { w.flush(); return ""; })); } break;
            case 9: if (s != null) { trace.add("" + s.checkError()); } else if (p != null) { trace.add("" + p.checkError()); } break;
            case 10: if (s != null) { s.print(4); s.print('c'); s.print(2.5); } else if (p != null) { p.print(4); p.print('c'); p.print(2.5); } break;
            case 11: if (s != null) { s.println("lines\nlines"); } else { trace.add(outcome(() -> { w.write("\ud83d\ude00\ud83d"); return ""; })); } break;
            case 12: if (s != null) { s.println('z'); s.println(1L); } else if (p != null) { p.println('z'); p.println(1L); } break;
            default:
                if (r.nextInt(10) == 0) {
                    if (s != null) { s.close(); } else { trace.add(outcome(() -> { w.close(); return ""; })); }
                }
        }
    }

    private interface Maker<T> {
        T make(OutputStream out) throws IOException;
    }

    private static <T> void comparePrinting(Maker<T> jdk, Maker<T> ours) throws IOException {
        for (int seed = 0; seed < ROUNDS; seed++) {
            List<String> traces = new ArrayList<>();
            for (Maker<T> m : Arrays.asList(jdk, ours)) {
                Noting sink = new Noting();
                sink.failAt = seed % 4 == 0 ? seed % 100 : Integer.MAX_VALUE;
                T it = m.make(sink);
                Random r = new Random(seed);
                List<String> trace = new ArrayList<>();
                for (int i = 0; i < 20; i++) {
                    print(r, it instanceof java.io.PrintStream ? (java.io.PrintStream) it : null, it instanceof Writer ? (Writer) it : null, trace);
                    if (!(it instanceof Writer && seed % 4 == 0)) {
                        trace.add(sink.toString());
                    }
                }
                // What happens after a failure is not compared, but that there is one.
                traces.add(trace.toString().replaceAll("(?s)IOException: full.*", "IOException: full"));
            }
            assertEquals(traces.get(0), traces.get(1), "seed " + seed);
        }
    }

    @Test
    void print_stream() throws IOException {
        comparePrinting(java.io.PrintStream::new, PrintStream::new);
        comparePrinting(o -> new java.io.PrintStream(o, true, "UTF-16"), o -> new PrintStream(o, true, "UTF-16"));
    }

    @Test
    void print_writer() throws IOException {
        comparePrinting(java.io.PrintWriter::new, PrintWriter::new);
        comparePrinting(o -> new java.io.PrintWriter(o, true), o -> new PrintWriter(o, true));
        comparePrinting(o -> new java.io.PrintWriter(new java.io.OutputStreamWriter(o)), o -> new PrintWriter(new OutputStreamWriter(o)));
    }

    @Test
    void encoded_output() throws IOException {
        comparePrinting(java.io.OutputStreamWriter::new, OutputStreamWriter::new);
        comparePrinting(o -> new java.io.OutputStreamWriter(o, "UTF-16"), o -> new OutputStreamWriter(o, "UTF-16"));
    }

    @Test
    void buffered_writer() throws IOException {
        comparePrinting(o -> new java.io.BufferedWriter(new java.io.OutputStreamWriter(o), 5), o -> new BufferedWriter(new OutputStreamWriter(o), 5));
        comparePrinting(o -> new java.io.BufferedWriter(new java.io.OutputStreamWriter(o)), o -> new BufferedWriter(new OutputStreamWriter(o)));
    }

    @Test
    void buffered_output() throws IOException {
        for (int seed = 0; seed < ROUNDS; seed++) {
            List<String> traces = new ArrayList<>();
            for (int which = 0; which < 2; which++) {
                Noting sink = new Noting();
                OutputStream out = which == 0 ? new java.io.BufferedOutputStream(sink, 600) : new BufferedOutputStream(sink, 600);
                Random r = new Random(seed);
                List<String> trace = new ArrayList<>();
                for (int i = 0; i < 20; i++) {
                    int n = r.nextInt(i == 10 ? 1500 : 300);
                    trace.add(outcome(() -> {
                        switch (r.nextInt(5)) {
                            case 0: out.write(n); break;
                            case 1: case 2: out.write(new byte[n + 1], 1, n); break;
                            case 3: out.flush(); break;
                            default: if (n == 7) { out.close(); }
                        }
                        return "" + sink.bytes.size() + sink.flushes + sink.closes;
                    }));
                }
                traces.add(trace.toString());
            }
            assertEquals(traces.get(0), traces.get(1), "seed " + seed);
        }
    }

    @Test
    void text_of_a_string_writer_passes_through() throws IOException {
        StringWriter s = new StringWriter();
        BufferedWriter w = new BufferedWriter(s, 3);
        w.write("hello");
        w.newLine();
        w.flush();
        assertEquals("hello" + System.lineSeparator(), s.toString());
    }
}
