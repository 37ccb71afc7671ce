package lamprey.tests.held;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import lamprey.tests.Bytes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Programs that stand still are reported and end, and no others. */
@Timeout(240)
class StandstillTest {
    @TempDir
    Path folder;

    /** What is printed, without what differs from run to run. */
    private static String report(String err) {
        return err.replaceAll("#\\d+", "#N").replaceAll("@[0-9a-f]+", "@H").replaceAll("for \\d+\\.\\d s", "for T").replaceAll("\n {4}at java\\.[^\n]*", "");
    }

    private static String end(String first) {
        return "\nThe runtime stops now: the threads do not go on, and `run` throws a DeadlockError.\nException in thread \"main\" lamprey.DeadlockError: deadlock: " + first
            + ", and nothing could wake one\n";
    }

    private static String beginning(String first) {
        return "lamprey: deadlock: " + first + ", and nothing is under way in the process that could wake one (see PicoRuntime.Builder.deadlocks):\n";
    }

    /** An endpoint does not keep a deadlock from being noticed. */
    private void check(Launched p, String which, String... parts) throws Exception {
        checkWith(p, "", which, parts);
    }

    private void checkWith(Launched p, String options, String which, String... parts) throws Exception {
        String err = report(p.run(1, "-Dlamprey.carriers=2 -Dlamprey.inspect=127.0.0.1:0" + options, which).err);
        assertTrue(err.startsWith("lamprey: http://127.0.0.1:"), err);
        for (String part : parts) {
            assertTrue(err.contains(part), () -> which + " does not say\n" + part + "\nbut\n" + err);
        }
    }

    @Test
    void each_is_reported_so_that_the_fault_can_be_named() throws Exception {
        Launched p = new Launched(folder, "Broken");
        check(p, "ring", beginning("all 4 threads wait"), " WAITING, on a channel: it receives, for T; and 2 others in the same way: \"link ", "\n    at Broken.take(Broken.java:15)\n    at Broken.lambda$ring$",
            "\"main\" #N WAITING, joining a thread: it joins \"link 0\" #N, for T\n    at Broken.ring(Broken.java:36)\n    at Broken.main(", end("all 4 threads wait"));
        check(p, "monitors", beginning("all 2 threads wait"), "\"there\" #N BLOCKED, entering a monitor: java.lang.Object@H, owned by back, for T\n    at Broken.both(Broken.java:47)\n",
            "these threads wait for each other:\n  \"", end("all 2 threads wait"));
        check(p, "locks", "\"back\" #N WAITING, on a lock: lamprey.concurrent.ReentrantLock@H, owned by there, for T\n    at Broken.bothLocks(Broken.java:67)\n",
            "these threads wait for each other:\n  \"");
        check(p, "lost", beginning("the only thread waits"), "\"main\" #N WAITING, on a queue, for T\n    at Broken.lost(Broken.java:89)\n", end("the only thread waits"));
        check(p, "many", beginning("all 1001 threads wait"), "; and 999 others in the same way\n    at Broken.lambda$many$");
        check(p, "pool", "on a future, for T\n    at Broken.lambda$pool$", "on a future, for T\n    at Broken.pool(");
    }

    @Test
    void sites_are_told_if_they_are_kept() throws Exception {
        Launched p = new Launched(folder, "Broken");
        String sites = " -Dlamprey.sites=on";
        checkWith(p, sites, "locks", "\"back\" #N WAITING, on a lock: lamprey.concurrent.ReentrantLock@H, made at Broken.locks(Broken.java:77), owned by there, for T\n    started at Broken.named(Broken.java:23)\n    at Broken.bothLocks(Broken.java:67)\n");
        checkWith(p, sites, "ring", "on a channel: it receives, on what was made at Broken.ring(Broken.java:29), for T", "\n    started at Broken.named(Broken.java:23)\n    at Broken.take(");
        checkWith(p, sites, "lost", "on a queue: made at Broken.lost(Broken.java:86), for T\n");
        String told = new Launched(folder, "Sited").run(0, sites.trim()).out;
        for (String part : new String[] {"\"site\":\"Sited.main(Sited.java:26)\"", "\"site\":\"Sited.main(Sited.java:27)\"", "\"label\":\"on a lock, made at Sited.main(Sited.java:23)\"",
            "\"label\":\"on a lock, made at Sited.main(Sited.java:24)\""}) {
            assertTrue(told.contains(part), () -> part + " is not in " + told);
        }
    }

    @Test
    void what_may_come_from_outside_is_waited_for() throws Exception {
        Launched p = new Launched(folder, "Outside");
        List<Process> all = new ArrayList<>();
        List<String> which = Arrays.asList("timer", "sleeper", "socket", "process", "kernel", "stage", "limit");
        Process off = p.start(folder.resolve("off"), "-Dlamprey.deadlocks=off -Dlamprey.carriers=1", "never");
        while (off.isAlive() && !Bytes.text(folder.resolve("off")).equals("ready\n")) {
            Thread.sleep(20);
        }
        for (String w : which) {
            all.add(p.start(folder.resolve(w), "-Dlamprey.carriers=2", w));
        }
        for (int i = 0; i < all.size(); i++) {
            assertTrue(all.get(i).waitFor(200, TimeUnit.SECONDS), which.get(i));
            assertEquals("woken\n", Bytes.text(folder.resolve(which.get(i))), which.get(i));
        }
        assertTrue(off.isAlive());
        off.destroyForcibly().waitFor();
        assertEquals("ready\n", Bytes.text(folder.resolve("off")));
    }
}
