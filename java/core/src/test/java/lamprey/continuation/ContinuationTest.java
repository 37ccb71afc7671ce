package lamprey.continuation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import lamprey.continued.Sum;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(240)
class ContinuationTest {
    @Test
    void values_go_in_and_out_until_the_end() throws Exception {
        Continuation<Object, Object> k = Continuation.of(new Sum(2));
        assertNull(k.value());
        Continuation<Object, Object> k1 = k.run("extra");
        assertNotSame(k, k1);
        assertEquals(0, k1.value());
        Continuation<Object, Object> k2 = k1.run("a");
        assertEquals(1, k2.value());
        assertFalse(k2.isDone());
        Continuation<Object, Object> end = k2.run("b");
        assertTrue(end.isDone());
        assertEquals("0!a;1!b;", end.value());
    }

    @Test
    void run_twice() throws Exception {
        Continuation<Object, Object> k = Continuation.of(new Sum(1));
        Continuation<Object, Object> k1 = k.run(null);
        assertThrows(IllegalStateException.class, () -> k.run(null));
        Continuation<Object, Object> end = k1.run("a");
        assertThrows(IllegalStateException.class, () -> k1.run("a"));
        assertThrows(IllegalStateException.class, () -> end.run("a"));
    }

    @Test
    void run_by_two_kernel_threads_at_once() throws Exception {
        for (int i = 0; i < 200; i++) {
            Continuation<Object, Object> k = Continuation.of(new Sum(1)).run(null);
            AtomicInteger won = new AtomicInteger();
            AtomicInteger lost = new AtomicInteger();
            CyclicBarrier both = new CyclicBarrier(2);
            Runnable racer = () -> {
                try {
                    both.await();
                    k.run("a");
                    won.incrementAndGet();
                } catch (IllegalStateException e) {
                    lost.incrementAndGet();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            };
            Thread other = new Thread(racer);
            other.start();
            racer.run();
            other.join();
            assertEquals(1, won.get());
            assertEquals(1, lost.get());
        }
    }

    @Test
    void fail_throws_at_the_suspension() throws Exception {
        Continuation<Object, Object> k = Continuation.of(new Sum(1)).run(null);
        ArithmeticException sent = new ArithmeticException("sent in");
        assertSame(sent, assertThrows(ArithmeticException.class, () -> k.fail(sent)));
        assertThrows(IllegalStateException.class, () -> k.run("a"));
    }

    @Test
    void fail_before_the_start() {
        Continuation<Object, Object> k = Continuation.of(new Sum(1));
        ArithmeticException sent = new ArithmeticException("sent in");
        assertSame(sent, assertThrows(ArithmeticException.class, () -> k.fail(sent)));
        assertThrows(IllegalStateException.class, () -> k.run("a"));
    }

    @Test
    void suspend_without_a_continuation() {
        IllegalStateException e = assertThrows(IllegalStateException.class, () -> Continuation.suspend("x"));
        assertTrue(e.getMessage().contains("no continuation runs"), e.getMessage());
    }

    @Test
    void exception_before_the_first_suspension() {
        Continuation<Object, Object> k = Continuation.of(first -> {
            throw new java.io.IOException("early");
        });
        assertThrows(java.io.IOException.class, () -> k.run(null));
    }

    @Test
    void suspension_belongs_to_the_innermost() throws Exception {
        Continuation<Object, Object> outer = Continuation.of(first -> {
            Continuation<Object, Object> inner = Continuation.of(new Sum(1)).run(null);
            return "inner handed out " + inner.value() + ", then " + inner.run("a").value();
        });
        Continuation<Object, Object> end = outer.run(null);
        assertTrue(end.isDone());
        assertEquals("inner handed out 0, then 0!a;", end.value());
    }

    @Test
    void goes_on_on_another_kernel_thread() throws Exception {
        Continuation<Object, Object> k = Continuation.of(new Sum(1)).run(null);
        Object[] result = new Object[1];
        Thread other = new Thread(() -> {
            try {
                result[0] = k.run("there").value();
            } catch (Exception e) {
                result[0] = e;
            }
        });
        other.start();
        other.join();
        assertEquals("0!there;", result[0]);
    }
}
