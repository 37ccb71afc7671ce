package lamprey.continuation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import lamprey.continued.Sum;
import lamprey.instrument.Traces;
import org.junit.jupiter.api.Test;

/** Traces of resumed frames; the module tests compare more of them with plain Java's. */
class TracesTest {
    private static List<String> calls(StackTraceElement[] trace, int most) {
        List<String> calls = new ArrayList<>();
        for (int i = 0; i < Math.min(most, trace.length); i++) {
            String type = trace[i].getClassName();
            calls.add(type.substring(type.lastIndexOf('.') + 1) + "." + trace[i].getMethodName());
        }
        return calls;
    }

    @Test
    void exception_of_a_resumed_frame_shows_saved_callers() throws Exception {
        Continuation<Object, Object> k = Continuation.of(new Sum(2)).run(null).run("a");
        IllegalStateException thrown = assertThrows(IllegalStateException.class, () -> k.run(new ArithmeticException("foreign")));
        List<String> expected = Arrays.asList("Sum.answered", "Sum.ask", "Sum.run", "Continuation.run");
        assertEquals(expected, calls(thrown.getStackTrace(), 4));
        assertEquals(expected, calls(thrown.getCause().getStackTrace(), 4));
        // Made here, outside the computation: untouched.
        assertTrue(thrown.getSuppressed()[0].getStackTrace()[0].getMethodName().startsWith("lambda$exception_of_a_resumed"));
        assertEquals(21, thrown.getStackTrace()[2].getLineNumber());
    }

    @Test
    void exception_of_the_first_run() {
        Continuation<Object, Object> k = Continuation.of(first -> {
            throw new IllegalStateException();
        });
        IllegalStateException thrown = assertThrows(IllegalStateException.class, () -> k.run(null));
        List<String> calls = calls(thrown.getStackTrace(), 2);
        assertTrue(calls.get(0).startsWith("TracesTest.lambda$exception_of_the_first_run$"), calls.get(0));
        assertEquals("Continuation.run", calls.get(1));
    }

    @Test
    void completed_once() throws Exception {
        Continuation<Object, Object> k = Continuation.of(new Sum(1)).run(null);
        IllegalStateException thrown = assertThrows(IllegalStateException.class, () -> k.run(new ArithmeticException()));
        StackTraceElement[] first = thrown.getStackTrace();
        assertArrayEquals(first, Traces.getStackTrace(thrown));
        Continuation<Object, Object> other = Continuation.of(new Sum(1)).run(null);
        assertThrows(IllegalStateException.class, () -> other.fail(thrown));
        assertArrayEquals(first, thrown.getStackTrace());
    }

    @Test
    void trace_outside_of_a_coroutine_is_the_jvms() {
        Exception e = new Exception();
        StackTraceElement[] raw = e.getStackTrace();
        assertArrayEquals(raw, Traces.getStackTrace(e));
        assertEquals("TracesTest.trace_outside_of_a_coroutine_is_the_jvms", calls(Traces.current(), 1).get(0));
    }
}
