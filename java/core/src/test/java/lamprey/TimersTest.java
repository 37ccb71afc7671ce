package lamprey;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TimersTest {
    /** Random additions, cancellations and steps of the clock, against a plain list. */
    @Test
    void those_whose_moment_has_come_fire_and_no_others() {
        for (int seed = 0; seed < 50; seed++) {
            Random random = new Random(seed);
            Timers timers = new Timers();
            List<Timer> open = new ArrayList<>();
            long now = 0;
            for (int i = 0; i < 2000; i++) {
                int what = random.nextInt(10);
                if (what < 5) {
                    Timer t = new Timer(PicoThread.currentThread(), now + random.nextInt(1000));
                    timers.add(t);
                    open.add(t);
                } else if (what < 8 && !open.isEmpty()) {
                    Timer t = open.remove(random.nextInt(open.size()));
                    timers.cancel(t);
                    timers.cancel(t);
                    assertFalse(t.isDone());
                } else {
                    now += random.nextInt(100);
                    timers.expire(now);
                    for (Timer t : open) {
                        assertEquals(t.when <= now, t.isDone());
                    }
                    open.removeIf(Blocker::isDone);
                }
                assertEquals(open.size(), timers.size());
                long earliest = open.stream().mapToLong(t -> t.when).min().orElse(Long.MAX_VALUE);
                assertEquals(earliest, timers.earliest());
            }
        }
    }

    @Test
    void add_says_when_a_timer_is_the_first() {
        Timers timers = new Timers();
        assertTrue(timers.add(new Timer(PicoThread.currentThread(), 10)));
        assertFalse(timers.add(new Timer(PicoThread.currentThread(), 20)));
        assertTrue(timers.add(new Timer(PicoThread.currentThread(), 5)));
    }
}
