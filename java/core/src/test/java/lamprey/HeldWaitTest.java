package lamprey;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import lamprey.instrument.Initialiser;
import lamprey.instrument.Monitors;
import lamprey.instrument.PinnedError;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Waits in static initialisers, with the calls that the transformer adds. */
@Timeout(240)
class HeldWaitTest {
    private static final Object LOCK = new Object();
    private static final Object FIRST = new Object();
    private static final Object SECOND = new Object();

    private static String run(Callable<String> code) {
        Initialiser.begin();
        try {
            return code.call();
        } catch (Exception e) {
            return e.getClass().getSimpleName();
        } finally {
            Initialiser.end();
        }
    }

    private static String lock(Object o) {
        Monitors.enter(o);
        Monitors.exit(o);
        return "locked";
    }

    /** Each is initialised once in a JVM, so each test has its own. */
    private static final class Locks {
        static final String VALUE = run(() -> lock(LOCK));
    }

    private static final class Sleeps {
        static final String VALUE = run(() -> {
            PicoThread.sleep(1);
            PicoThread.yield();
            Parking.parkNanos(1);
            return "slept";
        });
    }

    private static final class Interrupted {
        static final String VALUE = run(() -> {
            PicoThread.sleep(Long.MAX_VALUE);
            return "not interrupted";
        });
    }

    private static final class Parks {
        static final String VALUE = run(() -> {
            Parking.park();
            return "unparked";
        });
    }

    private static final class Alone {
        static final String VALUE = run(() -> {
            Parking.park();
            return "unparked";
        });
    }

    private static final class TakesOne {
        static final String VALUE = run(() -> lock(FIRST));
    }

    private static final class WouldTakeTheLast {
        static final String VALUE = run(() -> lock(SECOND));
    }

    private static PicoThread start(PicoRuntime r, Callable<String> code, AtomicReference<Object> result) {
        PicoThread t = new PicoThread(() -> {
            try {
                result.set(code.call());
            } catch (Throwable e) {
                result.set(e);
            }
        });
        r.start(t);
        return t;
    }

    private static boolean isHeld(PicoThread t) {
        LightThread.Details d = t.details;
        return d != null && d.held != null && t.blocker != null;
    }

    private static PicoRuntime two() {
        return PicoRuntime.builder().carriers(2).build();
    }

    @Test
    void a_lock_of_another_light_thread_is_waited_for_while_others_run() throws Exception {
        try (PicoRuntime r = two()) {
            AtomicReference<Object> owns = new AtomicReference<>();
            PicoThread owner = start(r, () -> {
                Monitors.enter(LOCK);
                owns.set("yes");
                Parking.park();
                Monitors.exit(LOCK);
                return "left";
            }, new AtomicReference<>());
            Until.holds(() -> owns.get() != null);
            AtomicReference<Object> result = new AtomicReference<>();
            PicoThread t = start(r, () -> {
                String s = Locks.VALUE;
                PicoThread.sleep(1);
                return s + " and suspended";
            }, result);
            Until.holds(() -> isHeld(t));
            AtomicReference<Object> other = new AtomicReference<>();
            start(r, () -> "ran", other).join();
            assertEquals("ran", other.get());
            Parking.unpark(owner);
            t.join();
            assertEquals("locked and suspended", result.get());
            assertEquals(0, r.crew.held.get());
        }
    }

    @Test
    void time_limits_and_permits_end_it() throws Exception {
        try (PicoRuntime r = two()) {
            AtomicReference<Object> result = new AtomicReference<>();
            start(r, () -> Sleeps.VALUE, result).join();
            assertEquals("slept", result.get());
            PicoThread parked = start(r, () -> Parks.VALUE, result);
            Until.holds(() -> (parked.state & LightThread.PARKED) != 0);
            Parking.unpark(parked);
            parked.join();
            assertEquals("unparked", result.get());
        }
    }

    @Test
    void an_interrupt_ends_it() throws Exception {
        try (PicoRuntime r = two()) {
            AtomicReference<Object> result = new AtomicReference<>();
            PicoThread t = start(r, () -> Interrupted.VALUE + PicoThread.currentThread().isInterrupted(), result);
            Until.holds(() -> isHeld(t));
            t.interrupt();
            t.join();
            assertEquals("InterruptedExceptionfalse", result.get());
        }
    }

    @Test
    void another_carrier_is_added_for_the_last_one() throws Exception {
        try (PicoRuntime r = PicoRuntime.builder().carriers(1).build()) {
            AtomicReference<Object> result = new AtomicReference<>();
            PicoThread t = start(r, () -> Alone.VALUE, result);
            Until.holds(() -> isHeld(t));
            AtomicReference<Object> other = new AtomicReference<>();
            start(r, () -> {
                Parking.unpark(t);
                return "ran";
            }, other).join();
            assertEquals("ran", other.get());
            t.join();
            assertEquals("unparked", result.get());
            Until.holds(() -> r.crew.carriers().length == 1);
        }
    }

    @Test
    void the_last_carrier_is_not_taken() throws Exception {
        try (PicoRuntime r = PicoRuntime.builder().carriers(2).extraCarriers(0).build()) {
            Monitors.enter(FIRST);
            Monitors.enter(SECOND);
            AtomicReference<Object> first = new AtomicReference<>();
            AtomicReference<Object> second = new AtomicReference<>();
            PicoThread t = start(r, () -> TakesOne.VALUE, first);
            Until.holds(() -> isHeld(t));
            start(r, () -> WouldTakeTheLast.VALUE, second).join();
            assertTrue(second.get() instanceof PinnedError, String.valueOf(second.get()));
            Monitors.exit(SECOND);
            Monitors.exit(FIRST);
            t.join();
            assertEquals("locked", first.get());
        }
    }
}
