package lamprey.dns;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import lamprey.PicoRuntime;
import lamprey.PicoThread;
import lamprey.dns.TestServer.Question;
import lamprey.dns.TestServer.Reply;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The resolver, against servers that answer well, late, wrongly or not at all. */
@Timeout(240)
class ResolverTest {
    /** Milliseconds that no answer of a loaded machine takes. */
    private static final int PATIENCE = 60_000;

    private interface Script {
        Reply answer(Question q, Reply r) throws IOException;
    }

    private static TestServer server(Script script) throws IOException {
        return new TestServer((q, tcp) -> {
            try {
                Reply r = script.answer(q, new Reply(q));
                return r == null ? Collections.<byte[]>emptyList() : Collections.singletonList(r.bytes());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private static Reply usual(Question q, Reply r) throws IOException {
        return q.type == 1 ? r.address(q.name, "192.0.2.1", 60).address(q.name, "192.0.2.2", 60) : q.type == 28 ? r.address(q.name, "2001:db8::1", 60) : r.code(3);
    }

    private static Resolver resolver(int timeout, int attempts, TestServer... servers) {
        List<java.net.InetSocketAddress> addresses = new ArrayList<>();
        for (TestServer s : servers) {
            addresses.add(s.address());
        }
        return new Resolver(Config.of(addresses, timeout, attempts, null));
    }

    private static String text(InetAddress[] addresses) {
        StringBuilder s = new StringBuilder();
        for (InetAddress a : addresses) {
            s.append(s.length() == 0 ? "" : " ").append(a.getHostAddress());
        }
        return s.toString();
    }

    private static String failure(Resolver r, String host) {
        try {
            return fail("found " + text(r.addresses(host)));
        } catch (UnknownHostException e) {
            return e.getMessage();
        }
    }

    /** Each on a light thread, and on a kernel thread. */
    private static void everywhere(PicoRuntime.Body<Object> body) throws Exception {
        body.run();
        try (PicoRuntime r = PicoRuntime.builder().carriers(1).build()) {
            r.call(body);
        }
    }

    @Test
    void addresses_of_both_kinds_are_found_once_and_remembered() throws Exception {
        try (TestServer s = server(ResolverTest::usual)) {
            everywhere(() -> {
                s.asked.clear();
                Resolver r = resolver(PATIENCE, 2, s);
                InetAddress[] found = r.addresses("Host.test");
                assertEquals("192.0.2.1 192.0.2.2 2001:db8:0:0:0:0:0:1", text(found));
                assertEquals("Host.test", found[0].getHostName());
                assertEquals(text(found), text(r.addresses("host.TEST.")));
                assertEquals(2, s.asked("host.test"), "one question for each kind");
                r.clear();
                r.addresses("host.test");
                assertEquals(4, s.asked("host.test"));
                return null;
            });
        }
    }

    @Test
    void an_absence_is_remembered() throws Exception {
        try (TestServer s = server((q, r) -> r.code(3).soa(100))) {
            everywhere(() -> {
                s.asked.clear();
                Resolver r = resolver(PATIENCE, 2, s);
                assertEquals("none.test", failure(r, "none.test"));
                assertEquals("none.test", failure(r, "none.test"));
                assertEquals(2, s.asked("none.test"));
                return null;
            });
        }
    }

    @Test
    void a_truncated_answer_is_fetched_by_tcp() throws Exception {
        try (TestServer s = new TestServer((q, tcp) -> {
            try {
                Reply r = new Reply(q);
                if (!tcp) {
                    r.flags |= 0x0200;
                } else {
                    usual(q, r);
                }
                return Collections.singletonList(r.bytes());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        })) {
            everywhere(() -> {
                assertEquals("192.0.2.1 192.0.2.2 2001:db8:0:0:0:0:0:1", text(resolver(PATIENCE, 2, s).addresses("large.test")));
                return null;
            });
        }
    }

    @Test
    void lies_are_ignored() throws Exception {
        try (TestServer s = new TestServer((q, tcp) -> {
            try {
                List<byte[]> sent = new ArrayList<>();
                Reply otherId = new Reply(q).address(q.name, "203.0.113.1", 60);
                otherId.id = q.id ^ 1;
                Reply otherName = new Reply(q);
                otherName.name = "evil.test";
                otherName.address("evil.test", "203.0.113.2", 60);
                Reply question = new Reply(q).address(q.name, "203.0.113.3", 60);
                question.flags = 0x0100;
                sent.add(otherId.bytes());
                sent.add(otherName.bytes());
                sent.add(question.bytes());
                sent.add(new byte[] {1, 2, 3});
                byte[] cut = usual(q, new Reply(q)).bytes();
                sent.add(Arrays.copyOf(cut, cut.length - 3));
                Reply good = usual(q, new Reply(q));
                good.address("other.test", "203.0.113.4", 60);
                sent.add(good.bytes());
                return sent;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        })) {
            everywhere(() -> {
                assertEquals("192.0.2.1 192.0.2.2 2001:db8:0:0:0:0:0:1", text(resolver(PATIENCE, 1, s).addresses("true.test")));
                return null;
            });
        }
    }

    @Test
    void names_that_point_forward_or_in_a_circle_are_malformed() throws Exception {
        try (TestServer s = new TestServer((q, tcp) -> {
            byte[] b = new Reply(q).name(q.name, 5, "x.test", 60).bytes();
            int at = b.length - 8;
            b[at] = (byte) 0xc0;
            b[at + 1] = (byte) (q.type == 1 ? at : at + 2);
            return Collections.singletonList(b);
        })) {
            everywhere(() -> {
                assertTrue(failure(resolver(50, 1, s), "circle.test").contains("no answer from"));
                return null;
            });
        }
    }

    @Test
    void aliases_are_followed_within_an_answer_and_across() throws Exception {
        try (TestServer s = server((q, r) -> q.name.equals("a.test") ? r.name("a.test", 5, "b.test", 60).name("b.test", 5, "c.test", 60) : usual(q, r))) {
            everywhere(() -> {
                assertEquals("192.0.2.1 192.0.2.2 2001:db8:0:0:0:0:0:1", text(resolver(PATIENCE, 1, s).addresses("a.test")));
                return null;
            });
        }
    }

    @Test
    void circles_of_aliases_end() throws Exception {
        try (TestServer s = server((q, r) -> r.name("a.test", 5, "b.test", 60).name("b.test", 5, "a.test", 60));
            TestServer t = server((q, r) -> r.name(q.name, 5, q.name.equals("a.test") ? "b.test" : "a.test", 60))) {
            everywhere(() -> {
                assertTrue(failure(resolver(PATIENCE, 1, s), "a.test").contains("circle"));
                assertTrue(failure(resolver(PATIENCE, 1, t), "a.test").contains("circle"));
                return null;
            });
        }
    }

    @Test
    void a_silent_or_failing_server_is_passed_over() throws Exception {
        try (TestServer silent = server((q, r) -> null); TestServer failing = server((q, r) -> r.code(2)); TestServer good = server(ResolverTest::usual)) {
            everywhere(() -> {
                good.asked.clear();
                assertEquals("192.0.2.1 192.0.2.2 2001:db8:0:0:0:0:0:1", text(resolver(2000, 5, silent, failing, good).addresses("host.test")));
                assertTrue(good.asked("host.test") >= 2);
                assertTrue(failure(resolver(20, 2, silent), "host.test").startsWith("host.test: no answer from"));
                assertEquals("host.test: the name server answers with error 2", failure(resolver(PATIENCE, 2, failing), "host.test"));
                return null;
            });
        }
    }

    @Test
    void one_question_for_many_that_ask() throws Exception {
        try (TestServer s = server(ResolverTest::usual); PicoRuntime runtime = PicoRuntime.builder().carriers(2).build()) {
            runtime.call(() -> {
                Resolver r = resolver(PATIENCE, 1, s);
                PicoThread[] threads = new PicoThread[500];
                int[] found = new int[threads.length];
                for (int i = 0; i < threads.length; i++) {
                    int k = i;
                    threads[i] = PicoThread.spawn(() -> {
                        try {
                            found[k] = r.addresses("host.test").length;
                        } catch (UnknownHostException e) {
                            found[k] = -1;
                        }
                    });
                }
                for (int i = 0; i < threads.length; i++) {
                    threads[i].join();
                    assertEquals(3, found[i]);
                }
                assertEquals(2, s.asked("host.test"));
                return null;
            });
        }
    }

    @Test
    void who_is_interrupted_leaves_the_question_to_the_others() throws Exception {
        java.util.concurrent.CountDownLatch late = new java.util.concurrent.CountDownLatch(1);
        try (TestServer s = server((q, r) -> {
            if (late.getCount() > 0) {
                return null;
            }
            return usual(q, r);
        }); PicoRuntime runtime = PicoRuntime.builder().carriers(1).build()) {
            runtime.call(() -> {
                Resolver r = resolver(PATIENCE, 1, s);
                String[] outcome = new String[2];
                PicoThread[] t = new PicoThread[2];
                for (int i = 0; i < 2; i++) {
                    int k = i;
                    t[i] = PicoThread.spawn(() -> {
                        try {
                            outcome[k] = text(r.addresses("host.test"));
                        } catch (UnknownHostException e) {
                            outcome[k] = "failed, interrupted " + PicoThread.interrupted();
                        }
                    });
                    while (t[i].getState() == Thread.State.RUNNABLE || t[i].getState() == Thread.State.NEW) {
                        PicoThread.yield();
                    }
                }
                while (s.asked("host.test") < 2) {
                    PicoThread.yield();
                }
                late.countDown();
                t[0].interrupt();
                t[0].join();
                t[1].join();
                assertEquals("failed, interrupted true", outcome[0]);
                assertEquals("192.0.2.1 192.0.2.2 2001:db8:0:0:0:0:0:1", outcome[1]);
                return null;
            });
        }
    }

    @Test
    void the_search_list_is_tried_as_ndots_says() throws Exception {
        try (TestServer s = server((q, r) -> q.name.equals("www.two.test") ? usual(q, r) : r.code(3))) {
            Resolver r = new Resolver(Config.of(Collections.singletonList(s.address()), PATIENCE, 1, null).search(1, "one.test", "two.test"));
            assertEquals(3, r.addresses("www").length);
            assertEquals(0, s.asked("www"));
            assertEquals("www.x", failure(r, "www.x"));
            assertTrue(s.asked("www.x") == 2 && s.asked("www.x.two.test") == 2);
            assertEquals("www.", failure(r, "www."));
            assertEquals(2, s.asked("www"));
        }
    }

    @Test
    void literals_and_hosts_ask_nobody() throws Exception {
        Path hosts = Files.createTempFile("hosts", "");
        Files.write(hosts, "127.0.0.5 Alpha beta # gamma\n::5 alpha\nnonsense beta\n".getBytes(StandardCharsets.ISO_8859_1));
        try (TestServer s = server(ResolverTest::usual)) {
            Resolver r = new Resolver(Config.of(Collections.singletonList(s.address()), PATIENCE, 1, hosts));
            assertEquals("127.0.0.5 0:0:0:0:0:0:0:5", text(r.addresses("ALPHA")));
            assertEquals("127.0.0.5", text(r.addresses("beta")));
            assertEquals("Alpha", r.name(InetAddress.getByName("127.0.0.5")));
            for (String literal : new String[] {"1.2.3.4", "::1", "127.1", "1.2.65535", "4294967295", "[::2]"}) {
                assertEquals(InetAddress.getByName(literal), r.addresses(literal)[0], literal);
            }
            for (String bad : new String[] {"1.2.3.4.5", "256.1.1.1", "1..2", "4294967296", "1:2", "..", "a..b", "a b", "[x]"}) {
                failure(r, bad);
            }
            assertTrue(r.addresses(null)[0].isLoopbackAddress() && r.addresses("")[0].isLoopbackAddress());
            assertTrue(s.asked.isEmpty(), s.asked.toString());
        } finally {
            Files.delete(hosts);
        }
    }

    @Test
    void names_of_addresses() throws Exception {
        try (TestServer s = server((q, r) -> q.name.equals("1.2.0.192.in-addr.arpa") ? r.name(q.name, 12, "host.test", 60) : r.code(3))) {
            everywhere(() -> {
                Resolver r = resolver(PATIENCE, 1, s);
                assertEquals("host.test", r.name(InetAddress.getByName("192.0.2.1")));
                assertNull(r.name(InetAddress.getByName("2001:db8::1")));
                return null;
            });
            assertEquals("1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa", Resolver.reverse(InetAddress.getByName("2001:db8::1").getAddress()));
        }
    }

    @Test
    void resolv_conf_is_read_as_the_c_library_does() {
        Config c = Config.parse(Arrays.asList("# comment", "nameserver 192.0.2.1", "nameserver 2001:db8::1 ; x", "nameserver nonsense", "domain old.test",
            "search one.test two.test.", "options ndots:3 timeout:99 attempts:x rotate other"), null);
        assertEquals(2, c.servers.size());
        assertEquals(Arrays.asList("one.test", "two.test"), c.search);
        assertEquals(3, c.ndots);
        assertEquals(30_000, c.timeoutMillis);
        assertEquals(2, c.attempts);
        assertTrue(c.rotate);
        assertTrue(Config.parse(Collections.<String>emptyList(), null).servers.get(0).getAddress().isLoopbackAddress());
    }

    @Test
    void random_bytes_are_malformed_or_parsed_but_nothing_else() {
        java.util.Random random = new java.util.Random(3);
        Question q = new Question();
        q.name = "some.test";
        q.type = 1;
        int parsed = 0;
        for (int i = 0; i < 200_000; i++) {
            byte[] b = new Reply(q).name(q.name, 5, "x.test", 60).soa(5).bytes();
            for (int k = random.nextInt(4); k >= 0; k--) {
                b[random.nextInt(b.length)] = (byte) random.nextInt();
            }
            try {
                Answer.of(Message.parse(b, random.nextInt(4) == 0 ? random.nextInt(b.length) : b.length), "some.test", 1);
                parsed++;
            } catch (Message.Malformed e) {
                // As it should be.
            }
        }
        assertTrue(parsed > 1000 && parsed < 199_000, "" + parsed);
    }
}
