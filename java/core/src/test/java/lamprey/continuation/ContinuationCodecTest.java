package lamprey.continuation;

import static lamprey.continuation.RefusedException.Reason.CHANGED;
import static lamprey.continuation.RefusedException.Reason.FORGED;
import static lamprey.continuation.RefusedException.Reason.FORMAT;
import static lamprey.continuation.RefusedException.Reason.LIMIT;
import static lamprey.continuation.RefusedException.Reason.NOT_ALLOWED;
import static lamprey.continuation.RefusedException.Reason.REPLAYED;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.NotSerializableException;
import java.io.Serializable;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import lamprey.continued.Sum;
import lamprey.instrument.Frame;
import lamprey.instrument.MethodInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(240)
class ContinuationCodecTest {
    private static final byte[] KEY = key(1);

    private static byte[] key(int seed) {
        byte[] key = new byte[32];
        new Random(seed).nextBytes(key);
        return key;
    }

    private static ContinuationCodec codec() {
        return ContinuationCodec.withKey(KEY).allowFrames("lamprey.continued").allow(Sum.class);
    }

    private static Continuation<Object, Object> suspended(Object held) throws Exception {
        return Continuation.of(new Sum(2)).run(held);
    }

    private static RefusedException refused(RefusedException.Reason reason, org.junit.jupiter.api.function.Executable action) {
        RefusedException e = assertThrows(RefusedException.class, action);
        assertEquals(reason, e.reason(), e.getMessage());
        return e;
    }

    @Test
    void written_and_read_goes_on_where_it_was() throws Exception {
        Continuation<Object, Object> k = suspended(null).run("a");
        Continuation<Object, Object> read = codec().decode(codec().encode(k));
        assertFalse(read.isDone());
        assertEquals(1, read.value());
        Continuation<Object, Object> end = read.run("b");
        assertEquals("0!a;1!b;", end.value());
    }

    @Test
    void exception_goes_through_read_frames() throws Exception {
        Continuation<Object, Object> read = codec().decode(codec().encode(suspended(null)));
        assertThrows(ArithmeticException.class, () -> read.fail(new ArithmeticException()));
    }

    @Test
    void values_of_the_jdk() throws Exception {
        HashMap<String, Object> map = new HashMap<>();
        map.put("list", new ArrayList<>(Arrays.asList(1, 2L, 'c', 1.5, null, true)));
        map.put("big", new BigDecimal("1.25"));
        map.put("id", new UUID(1, 2));
        map.put("time", Duration.ofSeconds(3));
        map.put("arrays", new Object[] {new int[] {1, 2}, new String[][] {{"x"}}, Thread.State.NEW});
        codec().allow(Thread.State.class).encode(suspended(map));
    }

    // Copy and replay.

    @Test
    void written_cannot_be_run() throws Exception {
        Continuation<Object, Object> k = suspended(null);
        codec().encode(k);
        assertThrows(IllegalStateException.class, () -> k.run("a"));
        assertThrows(IllegalStateException.class, () -> codec().encode(k));
    }

    @Test
    void run_cannot_be_written() throws Exception {
        Continuation<Object, Object> k = suspended(null);
        k.run("a");
        assertThrows(IllegalStateException.class, () -> codec().encode(k));
    }

    @Test
    void not_started_or_ended_cannot_be_written() throws Exception {
        Continuation<Object, Object> fresh = Continuation.of(new Sum(1));
        assertThrows(IllegalStateException.class, () -> codec().encode(fresh));
        Continuation<Object, Object> end = fresh.run(null).run("a");
        assertTrue(end.isDone());
        assertThrows(IllegalStateException.class, () -> codec().encode(end));
    }

    @Test
    void read_twice() throws Exception {
        byte[] bytes = codec().encode(suspended(null));
        codec().decode(bytes);
        refused(REPLAYED, () -> codec().decode(bytes.clone()));
    }

    @Test
    void read_by_many_at_once() throws Exception {
        byte[] bytes = codec().encode(suspended(null));
        AtomicInteger won = new AtomicInteger();
        AtomicInteger lost = new AtomicInteger();
        CyclicBarrier all = new CyclicBarrier(8);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            Thread t = new Thread(() -> {
                try {
                    all.await();
                    codec().decode(bytes);
                    won.incrementAndGet();
                } catch (RefusedException e) {
                    lost.incrementAndGet();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
            t.start();
            threads.add(t);
        }
        for (Thread t : threads) {
            t.join();
        }
        assertEquals(1, won.get());
        assertEquals(7, lost.get());
    }

    @Test
    void failed_reading_does_not_use_it_up() throws Exception {
        byte[] bytes = codec().encode(suspended(null));
        refused(NOT_ALLOWED, () -> ContinuationCodec.withKey(KEY).decode(bytes));
        assertEquals(0, codec().decode(bytes).value());
    }

    @Test
    void file_ledger_knows_what_another_has_accepted(@TempDir Path dir) throws Exception {
        Path file = dir.resolve("ledger");
        byte[] bytes = codec().encode(suspended(null));
        try (FileLedger one = FileLedger.open(file); FileLedger two = FileLedger.open(file)) {
            codec().ledger(one).decode(bytes);
            refused(REPLAYED, () -> codec().ledger(two).decode(bytes));
            assertTrue(two.accept(new UUID(3, 4)));
            assertFalse(one.accept(new UUID(3, 4)));
        }
        try (FileLedger later = FileLedger.open(file)) {
            refused(REPLAYED, () -> codec().ledger(later).decode(bytes));
        }
        assertEquals(32, Files.size(file));
    }

    @Test
    void file_ledger_cuts_off_an_unfinished_id(@TempDir Path dir) throws Exception {
        Path file = dir.resolve("ledger");
        Files.write(file, new byte[16 + 5]);
        try (FileLedger ledger = FileLedger.open(file)) {
            assertFalse(ledger.accept(new UUID(0, 0)));
            assertTrue(ledger.accept(new UUID(1, 0)));
        }
        assertEquals(32, Files.size(file));
    }

    // Forgery.

    @Test
    void every_changed_byte_is_refused() throws Exception {
        byte[] bytes = codec().encode(suspended(null));
        for (int i = 0; i < bytes.length; i++) {
            byte[] changed = bytes.clone();
            changed[i] ^= 1;
            refused(i < 5 ? FORMAT : FORGED, () -> codec().decode(changed));
        }
        codec().decode(bytes);
    }

    @Test
    void shortened_or_lengthened() throws Exception {
        byte[] bytes = codec().encode(suspended(null));
        refused(FORGED, () -> codec().decode(Arrays.copyOf(bytes, bytes.length - 1)));
        refused(FORGED, () -> codec().decode(Arrays.copyOf(bytes, bytes.length + 1)));
        refused(FORMAT, () -> codec().decode(Arrays.copyOf(bytes, 20)));
        refused(FORMAT, () -> codec().decode(new byte[0]));
    }

    @Test
    void another_key() throws Exception {
        byte[] bytes = codec().encode(suspended(null));
        refused(FORGED, () -> ContinuationCodec.withKey(key(2)).allowFrames("lamprey.continued").decode(bytes));
    }

    @Test
    void short_key() {
        assertThrows(IllegalArgumentException.class, () -> ContinuationCodec.withKey(new byte[31]));
    }

    @Test
    void key_array_changed_later() throws Exception {
        byte[] key = KEY.clone();
        ContinuationCodec codec = ContinuationCodec.withKey(key).allowFrames("lamprey.continued").allow(Sum.class);
        key[0]++;
        codec().decode(codec.encode(suspended(null)));
    }

    // A changed class.

    /** Has the class files of Sum and its frames itself; {@code change} may change one, or return null for a class that is gone. */
    private static ClassLoader variant(BiFunction<String, byte[], byte[]> change) {
        return new ClassLoader(Sum.class.getClassLoader()) {
            @Override
            protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                if (!name.startsWith("lamprey.continued.Sum")) {
                    return super.loadClass(name, resolve);
                }
                Class<?> loaded = findLoadedClass(name);
                if (loaded != null) {
                    return loaded;
                }
                try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                    byte[] file = in == null ? null : change.apply(name, readAll(in));
                    if (file == null) {
                        throw new ClassNotFoundException(name);
                    }
                    return defineClass(name, file, 0, file.length);
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        };
    }

    private static byte[] readAll(InputStream in) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int b = in.read(); b >= 0; b = in.read()) {
            all.write(b);
        }
        return all.toByteArray();
    }

    private static MethodInfo ask() throws Exception {
        Frame f = Continuation.of(new Sum(1)).run(null).rest().savedFrames()[0];
        assertEquals("ask", f.method().name);
        return f.method();
    }

    private static byte[] withOtherHash(byte[] file, long hash) {
        byte[] changed = file.clone();
        for (int i = 0; i + 8 <= file.length; i++) {
            if (ByteBuffer.wrap(file, i, 8).getLong() == hash) {
                changed[i]++;
            }
        }
        return changed;
    }

    @Test
    void changed_method() throws Exception {
        byte[] bytes = codec().encode(suspended(null));
        long hash = ask().hash;
        ClassLoader changed = variant((name, file) -> withOtherHash(file, hash));
        RefusedException e = refused(CHANGED, () -> codec().loader(changed).decode(bytes));
        assertTrue(e.getMessage().contains("lamprey.continued.Sum.ask"), e.getMessage());
        ClassLoader same = variant((name, file) -> file);
        assertEquals(0, codec().loader(same).decode(bytes).value());
    }

    @Test
    void class_is_gone() throws Exception {
        byte[] bytes = codec().encode(suspended(null));
        ClassLoader without = variant((name, file) -> null);
        RefusedException e = refused(CHANGED, () -> codec().loader(without).decode(bytes));
        assertTrue(e.getMessage().contains("lamprey.continued.Sum."), e.getMessage());
    }

    // Allow-list.

    static final class Private implements Serializable {
        private static final long serialVersionUID = 1;
        static final AtomicInteger READ = new AtomicInteger();

        private void readObject(java.io.ObjectInputStream in) throws IOException, ClassNotFoundException {
            READ.incrementAndGet();
            in.defaultReadObject();
        }
    }

    @Test
    void class_not_allowed_by_the_writer() throws Exception {
        Continuation<Object, Object> k = suspended(new Object[] {new Private()});
        RefusedException e = refused(NOT_ALLOWED, () -> codec().encode(k));
        assertTrue(e.getMessage().contains("Private"), e.getMessage());
        assertTrue(e.getMessage().contains("Sum.run(Sum.java:21)"), e.getMessage());
        assertEquals(1, k.run("a").value());
    }

    @Test
    void class_not_allowed_is_named_as_a_program_can_name_it() throws Exception {
        Object[] values = {java.util.Collections.unmodifiableList(new java.util.ArrayList<>()), java.util.TimeZone.getTimeZone("Europe/Berlin"), new java.util.Vector<>(),
            new Private()};
        String[] names = {"Class.forName(\"java.util.Collections$UnmodifiableList\")", "Class.forName(\"sun.util.calendar.ZoneInfo\")", "Vector.class",
            "Class.forName(\"" + Private.class.getName() + "\")"};
        for (int i = 0; i < values.length; i++) {
            Object value = values[i];
            String message = refused(NOT_ALLOWED, () -> codec().encode(suspended(new Object[] {value}))).getMessage();
            assertTrue(message.contains("allow(" + names[i] + ")"), message);
        }
    }

    @Test
    void class_not_allowed_by_the_reader_is_not_read() throws Exception {
        byte[] bytes = codec().allow(Private.class).encode(suspended(new Private()));
        int before = Private.READ.get();
        refused(NOT_ALLOWED, () -> codec().decode(bytes));
        assertEquals(before, Private.READ.get());
        codec().allowPackage("lamprey").decode(bytes);
        assertEquals(before + 1, Private.READ.get());
    }

    @Test
    void frames_of_another_package() throws Exception {
        byte[] bytes = codec().encode(suspended(null));
        RefusedException e = refused(NOT_ALLOWED, () -> ContinuationCodec.withKey(KEY).allowPackage("lamprey").allowFrames("lamprey.cont").decode(bytes));
        assertTrue(e.getMessage().contains("allowFrames(\"lamprey.continued\")"), e.getMessage());
    }

    @Test
    void package_names() throws Exception {
        byte[] bytes = codec().encode(suspended(null));
        for (String name : new String[] {"lamprey.continued.more", "lamprey.cont", "continued", ""}) {
            refused(NOT_ALLOWED, () -> ContinuationCodec.withKey(KEY).allow(Sum.class).allowFrames(name).decode(bytes));
        }
        assertThrows(IllegalArgumentException.class, () -> codec().allowFrames("lamprey.*"));
        assertThrows(IllegalArgumentException.class, () -> codec().allowPackage("lamprey."));
        ContinuationCodec.withKey(KEY).allow(Sum.class).allowFrames("lamprey").decode(bytes);
    }

    @Test
    void lambda_and_proxy() throws Exception {
        Runnable lambda = (Runnable & Serializable) () -> { };
        refused(NOT_ALLOWED, () -> codec().encode(suspended(lambda)));
        Object proxy = Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Runnable.class}, new Handler());
        refused(NOT_ALLOWED, () -> codec().allow(Handler.class).encode(suspended(proxy)));
    }

    static final class Handler implements java.lang.reflect.InvocationHandler, Serializable {
        private static final long serialVersionUID = 1;

        @Override
        public Object invoke(Object proxy, java.lang.reflect.Method method, Object[] args) {
            return null;
        }
    }

    @Test
    void not_serialisable_names_class_and_line() throws Exception {
        Continuation<Object, Object> k = suspended(Arrays.asList("x", new Object()));
        NotSerializableException e = assertThrows(NotSerializableException.class, () -> codec().encode(k));
        assertTrue(e.getMessage().startsWith("java.lang.Object: "), e.getMessage());
        assertTrue(e.getMessage().contains("lamprey.continued.Sum.run(Sum.java:21)"), e.getMessage());
        assertEquals(1, k.run("a").value());
    }

    // Limits.

    @Test
    void too_large() throws Exception {
        Continuation<Object, Object> k = suspended(new byte[2000]);
        refused(LIMIT, () -> codec().limits(1000, 100, 5000, 1000).encode(k));
        byte[] bytes = codec().encode(k);
        refused(LIMIT, () -> codec().limits(1000, 100, 5000, 1000).decode(bytes));
        codec().decode(bytes);
    }

    @Test
    void too_long_array() throws Exception {
        Continuation<Object, Object> k = suspended(new byte[2000]);
        refused(LIMIT, () -> codec().limits(1 << 20, 100, 1999, 1000).encode(k));
        byte[] bytes = codec().encode(k);
        refused(LIMIT, () -> codec().limits(1 << 20, 100, 1999, 1000).decode(bytes));
        codec().decode(bytes);
    }

    @Test
    void too_deep_or_too_many() throws Exception {
        Object nested = null;
        for (int i = 0; i < 100; i++) {
            nested = new Object[] {nested};
        }
        Continuation<Object, Object> k = suspended(nested);
        refused(LIMIT, () -> codec().limits(1 << 20, 50, 1000, 1000).encode(k));
        refused(LIMIT, () -> codec().limits(1 << 20, 500, 1000, 50).encode(k));
        byte[] bytes = codec().encode(k);
        refused(LIMIT, () -> codec().limits(1 << 20, 50, 1000, 1000).decode(bytes));
        codec().decode(bytes);
    }

    @Test
    void deeper_than_the_stack() throws Exception {
        Object nested = null;
        for (int i = 0; i < 1_000_000; i++) {
            nested = new Object[] {nested};
        }
        Continuation<Object, Object> k = suspended(nested);
        refused(LIMIT, () -> codec().encode(k));
        assertEquals(1, k.run("a").value());
    }

    @Test
    void only_the_id_differs() throws Exception {
        Continuation<Object, Object> k = suspended(null);
        byte[] one = codec().encode(k);
        byte[] two = codec().encode(suspended(null));
        assertEquals(one.length, two.length);
        assertFalse(Arrays.equals(Arrays.copyOfRange(one, 5, 21), Arrays.copyOfRange(two, 5, 21)), "ids must differ");
        assertArrayEquals(Arrays.copyOfRange(one, 21, one.length - 32), Arrays.copyOfRange(two, 21, two.length - 32));
    }
}
