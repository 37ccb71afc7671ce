package lamprey.io;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import lamprey.PicoRuntime;
import lamprey.PicoThread;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Compressed streams do what the JDK's do, and can be suspended. */
@Timeout(240)
class ZipTest {
    private static final int ROUNDS = 1500;

    private interface Step {
        Object run() throws Exception;
    }

    private interface Wrap<T> {
        T around(T inner) throws IOException;
    }

    private static String outcome(Step step) {
        try {
            Object o = step.run();
            return o instanceof byte[] ? Integer.toHexString(Arrays.hashCode((byte[]) o)) : String.valueOf(o);
        } catch (Exception e) {
            return e.getClass().getName() + (e instanceof java.util.zip.ZipException ? ": " + e.getMessage() : "");
        }
    }

    private static byte[] text(Random r) {
        byte[] bytes = new byte[r.nextInt(3000)];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) r.nextInt(r.nextInt(4) == 0 ? 256 : 3);
        }
        return bytes;
    }

    private static byte[] compress(Wrap<OutputStream> with, byte[] bytes, Random r) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (OutputStream zip = with.around(out)) {
            for (int at = 0; at < bytes.length; ) {
                int n = Math.min(bytes.length - at, r.nextInt(500));
                if (n == 1) {
                    zip.write(bytes[at]);
                } else {
                    zip.write(bytes, at, n);
                }
                at += n;
                if (r.nextInt(4) == 0) {
                    zip.flush();
                }
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return out.toByteArray();
    }

    private static void compareOutputs(Wrap<OutputStream> jdk, Wrap<OutputStream> ours) {
        for (int seed = 0; seed < ROUNDS; seed++) {
            byte[] bytes = text(new Random(seed));
            assertArrayEquals(compress(jdk, bytes, new Random(seed)), compress(ours, bytes, new Random(seed)), "seed " + seed);
        }
    }

    @Test
    void output() {
        compareOutputs(java.util.zip.DeflaterOutputStream::new, DeflaterOutputStream::new);
        compareOutputs(o -> new java.util.zip.DeflaterOutputStream(o, true), o -> new DeflaterOutputStream(o, true));
        compareOutputs(o -> new java.util.zip.DeflaterOutputStream(o, new Deflater(9, true), 7), o -> new DeflaterOutputStream(o, new Deflater(9, true), 7));
        compareOutputs(java.util.zip.GZIPOutputStream::new, GZIPOutputStream::new);
        compareOutputs(o -> new java.util.zip.GZIPOutputStream(o, 9, true), o -> new GZIPOutputStream(o, 9, true));
    }

    private static String steps(Step open, long seed) {
        Random r = new Random(seed);
        List<String> trace = new ArrayList<>();
        InputStream in;
        try {
            in = (InputStream) open.run();
        } catch (Exception e) {
            return "opening: " + outcome(() -> {
                throw e;
            });
        }
        // After damage has been found, JDKs differ.
        for (int i = 0; i < 12 && !trace.toString().contains("ZipException"); i++) {
            int n = r.nextInt(600);
            switch (r.nextInt(8)) {
                case 0: trace.add("read " + outcome(in::read)); break;
                case 1: case 2: case 3: {
                    byte[] b = new byte[n + 2];
                    int off = r.nextInt(2);
                    trace.add("read[] " + outcome(() -> Since9.readNBytes(in, b, off, n)) + outcome(() -> b));
                    break;
                }
                case 4: trace.add("skip " + outcome(() -> in.skip(n))); break;
                // JDK 8 knows one read later that nothing is left.
                case 5: trace.add("available " + (Since9.IS ? outcome(in::available) : "")); break;
                case 6: trace.add("none " + outcome(() -> in.read(new byte[1], 0, 0))); break;
                default:
                    if (r.nextInt(4) == 0) {
                        trace.add(r.nextBoolean() ? "readAll " + outcome(() -> Since9.readAllBytes(in)) : "close " + outcome(() -> { in.close(); return ""; }));
                    }
            }
        }
        return trace.toString();
    }

    private static void compareInputs(Wrap<OutputStream> compress, Wrap<InputStream> jdk, Wrap<InputStream> ours) {
        for (int seed = 0; seed < ROUNDS; seed++) {
            long s = seed;
            Random r = new Random(seed);
            byte[] bytes = compress(compress, text(r), r);
            if (r.nextInt(3) == 0 && bytes.length > 0) {
                // Cut off, or damaged.
                bytes = Arrays.copyOf(bytes, bytes.length - r.nextInt(Math.min(bytes.length, 20)));
                if (r.nextBoolean() && bytes.length > 0) {
                    bytes[r.nextInt(bytes.length)] ^= 1 << r.nextInt(8);
                }
            } else if (r.nextInt(3) == 0) {
                // Something behind the end: another member, or not.
                byte[] more = r.nextBoolean() ? compress(compress, text(r), r) : text(r);
                int first = bytes.length;
                bytes = Arrays.copyOf(bytes, first + more.length);
                System.arraycopy(more, 0, bytes, first, more.length);
            }
            byte[] all = bytes;
            // All at once, so that what is there behind the end is the same for both.
            assertEquals(steps(() -> jdk.around(new ByteArrayInputStream(all)), s), steps(() -> ours.around(new ByteArrayInputStream(all)), s), "seed " + seed);
            assertEquals(steps(() -> jdk.around(new Piecewise(all)), s), steps(() -> ours.around(new Piecewise(all)), s), "slow, seed " + seed);
        }
    }

    @Test
    void input() {
        compareInputs(java.util.zip.DeflaterOutputStream::new, java.util.zip.InflaterInputStream::new, InflaterInputStream::new);
        compareInputs(java.util.zip.DeflaterOutputStream::new, i -> new java.util.zip.InflaterInputStream(i, new Inflater(), 3), i -> new InflaterInputStream(i, new Inflater(), 3));
    }

    @Test
    void gzip_input() {
        compareInputs(java.util.zip.GZIPOutputStream::new, java.util.zip.GZIPInputStream::new, GZIPInputStream::new);
        compareInputs(java.util.zip.GZIPOutputStream::new, i -> new java.util.zip.GZIPInputStream(i, 40), i -> new GZIPInputStream(i, 40));
    }

    @Test
    void a_header_with_everything_in_it() throws IOException {
        byte[] plain = compress(java.util.zip.GZIPOutputStream::new, new byte[] {1, 2, 3}, new Random(1));
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.write(new byte[] {31, (byte) 139, 8, 2 | 4 | 8 | 16, 1, 2, 3, 4, 5, 6, 3, 0, 9, 9, 9, 'n', 'a', 0, 'c', 0});
        java.util.zip.CRC32 crc = new java.util.zip.CRC32();
        crc.update(all.toByteArray());
        all.write((int) crc.getValue() & 0xff);
        all.write((int) crc.getValue() >> 8 & 0xff);
        all.write(plain, 10, plain.length - 10);
        assertArrayEquals(new byte[] {1, 2, 3}, Since9.readAllBytes(new GZIPInputStream(new ByteArrayInputStream(all.toByteArray()))));
        byte[] wrong = all.toByteArray();
        wrong[20] ^= 1;
        assertEquals("java.util.zip.ZipException: Corrupt GZIP header", outcome(() -> new GZIPInputStream(new ByteArrayInputStream(wrong))));
    }

    /** Gives the same pieces, wherever the reads begin: up to the next multiple of five. */
    private static final class Piecewise extends InputStream {
        private final byte[] bytes;
        private int at;

        Piecewise(byte[] bytes) {
            this.bytes = bytes;
        }

        @Override
        public int read() {
            return at < bytes.length ? bytes[at++] & 0xff : -1;
        }

        @Override
        public int read(byte[] b, int off, int len) {
            if (len == 0 || at == bytes.length) {
                return len == 0 ? 0 : -1;
            }
            int n = Math.min(Math.min(len, 5 - at % 5), bytes.length - at);
            System.arraycopy(bytes, at, b, off, n);
            at += n;
            return n;
        }
    }

    /** Suspends at each byte. */
    private static final class Pausing extends InputStream {
        private final InputStream in;

        Pausing(byte[] bytes) {
            in = new ByteArrayInputStream(bytes);
        }

        @Override
        public int read() throws IOException {
            PicoThread.yield();
            return in.read();
        }

        @Override
        public int read(byte[] b, int off, int len) throws IOException {
            PicoThread.yield();
            return in.read(b, off, Math.min(len, 1));
        }

        @Override
        public void close() throws IOException {
            PicoThread.yield();
        }
    }

    private static final class PausingOutput extends OutputStream {
        final ByteArrayOutputStream out = new ByteArrayOutputStream();

        @Override
        public void write(int b) {
            PicoThread.yield();
            out.write(b);
        }

        @Override
        public void write(byte[] b, int off, int len) {
            PicoThread.yield();
            out.write(b, off, len);
        }

        @Override
        public void flush() {
            PicoThread.yield();
        }

        @Override
        public void close() {
            PicoThread.yield();
        }
    }

    @Test
    void every_method_can_be_suspended() {
        byte[] bytes = text(new Random(5));
        PicoRuntime.simulated(1).run(() -> {
            try {
                PausingOutput gzip = new PausingOutput();
                OutputStream out = new GZIPOutputStream(gzip);
                out.write(7);
                out.write(bytes);
                out.flush();
                out.close();
                PausingOutput again = new PausingOutput();
                InputStream in = new GZIPInputStream(new Pausing(gzip.out.toByteArray()));
                assertEquals(7, in.read());
                OutputStream deflated = new DeflaterOutputStream(again, true);
                Transfers.transferTo(in, deflated);
                in.close();
                deflated.flush();
                deflated.close();
                in = new InflaterInputStream(new Pausing(again.out.toByteArray()));
                assertEquals(1, in.skip(1));
                ByteArrayOutputStream rest = new ByteArrayOutputStream();
                Transfers.transferTo(in, rest);
                in.close();
                PausingOutput last = new PausingOutput();
                Transfers.writeTo(rest, last);
                assertArrayEquals(Arrays.copyOfRange(bytes, 1, bytes.length), last.out.toByteArray());
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    private static String pushbackSteps(java.io.PushbackReader in, long seed) {
        Random r = new Random(seed);
        List<String> trace = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            int n = r.nextInt(5);
            char[] c = new char[n + 1];
            switch (r.nextInt(8)) {
                case 0: trace.add(outcome(in::read)); break;
                case 1: trace.add(outcome(() -> in.read(c, 0, n)) + new String(c)); break;
                case 2: trace.add(outcome(() -> in.read(c)) + new String(c)); break;
                case 3: trace.add(outcome(() -> { in.unread(n + 'A'); return "pushed"; })); break;
                case 4: trace.add(outcome(() -> { in.unread("abcdef".toCharArray(), 1, n); return "pushed"; })); break;
                case 5: trace.add(outcome(() -> in.skip(n - 1))); break;
                case 6: trace.add(outcome(in::ready)); break;
                default:
                    if (r.nextInt(8) == 0) {
                        trace.add(outcome(() -> { in.close(); return "closed"; }));
                    }
            }
        }
        return trace.toString();
    }

    @Test
    void pushback_reader() {
        for (int seed = 0; seed < ROUNDS; seed++) {
            int size = 1 + seed % 4;
            assertEquals(pushbackSteps(new java.io.PushbackReader(new java.io.StringReader("what there is to read"), size), seed),
                pushbackSteps(new PushbackReader(new java.io.StringReader("what there is to read"), size), seed), "seed " + seed);
        }
        assertEquals(outcome(() -> new java.io.PushbackReader(new java.io.StringReader(""), 0)), outcome(() -> new PushbackReader(new java.io.StringReader(""), 0)));
    }
}
