package lamprey.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import lamprey.PicoRuntime;
import lamprey.PicoThread;
import lamprey.event.Event;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(240)
class SimulatedTest {
    /** What happens in a run: threads choose between channels, time limits take part. */
    private static String run(long seed) throws Exception {
        StringBuilder log = new StringBuilder();
        try (PicoRuntime runtime = PicoRuntime.simulated(seed)) {
            runtime.call(() -> {
                Channel<Integer> a = new Channel<>();
                Channel<Integer> b = Channel.bounded(2);
                List<PicoThread> threads = new ArrayList<>();
                for (int t = 0; t < 4; t++) {
                    int n = t;
                    PicoThread thread = new PicoThread(() -> {
                        try {
                            for (int i = 0; i < 20; i++) {
                                Event<Integer> out = n % 2 == 0 ? Event.choose(a.sendEvt(n).wrap(x -> 100), b.sendEvt(n).wrap(x -> 101))
                                    : Event.choose(a.recvEvt(), b.recvEvt());
                                log.append(n).append(':').append(Event.choose(out, Event.timeoutMillis(3).wrap(x -> -1)).sync()).append(' ');
                            }
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
                    });
                    threads.add(thread);
                    thread.start();
                }
                for (PicoThread t : threads) {
                    t.join();
                }
                return null;
            });
        }
        return log.toString();
    }

    @Test
    void the_same_seed_gives_the_same_communications() throws Exception {
        Set<String> different = new HashSet<>();
        for (long seed = 0; seed < 5; seed++) {
            String first = run(seed);
            assertEquals(first, run(seed));
            different.add(first);
        }
        assertTrue(different.size() > 1, "seeds make a difference");
    }
}
