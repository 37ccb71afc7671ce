package lamprey.tests.held;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.concurrent.TimeUnit;
import lamprey.tests.Bytes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The JDK's flight recorder is told what light threads do. */
@Timeout(240)
class FlightTest {
    @TempDir
    Path folder;

    private static boolean has(String events, String kind, String... fields) {
        for (String event : events.split("\\n\\}")) {
            boolean all = event.contains(kind + " {");
            for (String f : fields) {
                all &= event.contains(f);
            }
            if (all) {
                return true;
            }
        }
        return false;
    }

    @Test
    void waits_wakes_and_runs_are_recorded() throws Exception {
        Path tool = Paths.get(System.getProperty("java.home"), "bin", "jfr");
        assumeTrue(Files.exists(tool), "this JDK cannot show a recording");
        Path recording = folder.resolve("recording.jfr");
        new Launched(folder, "Recorded").run(0, "-Dlamprey.carriers=1 -XX:StartFlightRecording=filename=" + recording);
        Path printed = folder.resolve("printed");
        Process p = new ProcessBuilder(tool.toString(), "print", "--events", "lamprey.*", recording.toString()).redirectErrorStream(true).redirectOutput(printed.toFile()).start();
        assertTrue(p.waitFor(200, TimeUnit.SECONDS));
        String events = Bytes.text(printed);
        assertEquals(0, p.exitValue(), events);
        assertTrue(has(events, "lamprey.ThreadBlock", "thread = \"sleeper\"", "reason = \"sleeping\"", "place = \"Recorded.nap(Recorded.java:11)\""), events);
        assertTrue(has(events, "lamprey.ThreadWake", "thread = \"partner\"", "waker = \"main\""), events);
        assertTrue(has(events, "lamprey.ThreadRun", "thread = \"main\""), events);
    }
}
