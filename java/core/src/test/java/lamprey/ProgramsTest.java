package lamprey;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import lamprey.concurrent.LinkedBlockingQueue;
import lamprey.concurrent.ThreadPoolExecutor;
import lamprey.instrument.Main;
import lamprey.scope.Scope;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whole programs, each in a JVM of its own: how they begin and end. */
@Timeout(240)
class ProgramsTest {
    /** A million threads block, with 400 MB. */
    static final class Million {
        public static void main(String[] args) {
            int n = 1_000_000;
            PicoThread[] all = new PicoThread[n];
            PicoRuntime.standard().run(() -> {
                for (int i = 0; i < n; i++) {
                    all[i] = PicoThread.spawn(Parking::park);
                }
                for (PicoThread t : all) {
                    while (t.getState() != Thread.State.WAITING) {
                        PicoThread.yield();
                    }
                }
                for (PicoThread t : all) {
                    Parking.unpark(t);
                }
            });
            System.out.println("ended " + PicoRuntime.standard().threads().size());
        }
    }

    /** Main throws, another thread goes on, a daemon never ends, a hook runs at the end. */
    static final class Throws {
        public static void main(String[] args) {
            Main.run(() -> {
                Main.addShutdownHook(Runtime.getRuntime(), new PicoThread(() -> {
                    PicoThread.yield();
                    System.out.println("hook");
                }));
                PicoThread daemon = new PicoThread(Parking::park);
                daemon.setDaemon(true);
                daemon.start();
                PicoThread.spawn(() -> {
                    Parking.parkNanos(20_000_000);
                    System.out.println("other");
                });
                throw new IllegalStateException("main ends");
            });
        }
    }

    /** The JVM must not end while a thread that is no daemon lives. */
    static final class Leaves {
        public static void main(String[] args) {
            PicoThread.spawn(() -> {
                Parking.parkNanos(100_000_000);
                System.out.println("still here");
            });
        }
    }

    /** Blocks until it is killed. */
    static final class Blocks {
        public static void main(String[] args) {
            PicoThread t = new PicoThread(Parking::park, "sleeper");
            t.start();
            Until.holds(() -> t.getState() == Thread.State.WAITING && !t.runtime.threads().isEmpty());
            System.out.println("blocked " + ManagementFactory.getRuntimeMXBean().getName());
        }
    }

    /** Many light threads exit at once, on one carrier that another holds for ever; the hook waits for a light thread if the carrier is free. */
    static final class Exits {
        public static void main(String[] args) {
            boolean busy = Boolean.getBoolean("busy");
            Main.addShutdownHook(Runtime.getRuntime(), new PicoThread(() -> {
                try {
                    PicoThread.sleep(1);
                    if (!busy) {
                        PicoThread.spawn(PicoThread::yield).join();
                    }
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                System.out.println("hook of " + PicoThread.currentThread().getName());
            }, "h"));
            Main.run(() -> {
                for (int i = 0; i < 50; i++) {
                    PicoThread.spawn(() -> {
                        PicoThread.yield();
                        Exit.exit(3);
                        System.out.println("went on");
                    });
                }
                if (busy) {
                    PicoThread.spawn(() -> {
                        // After the others have called exit.
                        PicoThread.yield();
                        for (;;) {
                            KernelThreads.onSpinWait();
                        }
                    });
                }
                Parking.park();
            });
        }
    }

    /** A light thread exits where it cannot be suspended. */
    static final class ExitsPinned {
        public static void main(String[] args) {
            Main.run(() -> {
                List<Integer> l = new ArrayList<>(Arrays.asList(2, 1));
                l.sort((x, y) -> {
                    Exit.exit(Runtime.getRuntime(), 4);
                    return 0;
                });
                System.out.println("went on");
            });
        }
    }

    /** An uncaught exception's handler throws. */
    static final class HandlerThrows {
        public static void main(String[] args) throws InterruptedException {
            PicoThread t = new PicoThread(() -> {
                throw new IllegalStateException();
            }, "t");
            t.setUncaughtExceptionHandler((thread, e) -> {
                throw new IllegalArgumentException();
            });
            t.start();
            t.join();
        }
    }

    /** No thread can go on; two threads, or main alone. */
    static final class Deadlock {
        public static void main(String[] args) {
            if (Boolean.getBoolean("outside")) {
                PicoThread.spawn(Parking::park);
            } else {
                Main.run(Parking::park);
            }
        }
    }

    /** No thread can be started: what would have waited for one must not. */
    static final class CannotStart {
        public static void main(String[] args) throws Exception {
            try {
                Scope.run(s -> s.spawn(() -> {}));
            } catch (IllegalArgumentException e) {
                System.out.println("scope");
            }
            ThreadPoolExecutor pool = new ThreadPoolExecutor(2, 2, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
            for (int i = 0; i < 3; i++) {
                try {
                    pool.execute(() -> {});
                } catch (IllegalArgumentException e) {
                    System.out.println("pool " + pool.getPoolSize());
                }
            }
            pool.shutdown();
            System.out.println(pool.awaitTermination(1, TimeUnit.DAYS));
        }
    }

    private static final class Ended {
        int code;
        String text;
    }

    private static List<String> command(Class<?> program, String... options) {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
        command.addAll(Arrays.asList(options));
        command.addAll(Arrays.asList("-cp", System.getProperty("java.class.path"), program.getName()));
        return command;
    }

    private static Ended run(Class<?> program, String... options) throws Exception {
        List<String> command = command(program, options);
        File out = File.createTempFile("program", ".txt");
        try {
            Process p = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out).start();
            Ended e = new Ended();
            e.code = p.waitFor();
            e.text = new String(Files.readAllBytes(out.toPath()), StandardCharsets.UTF_8);
            return e;
        } finally {
            Files.delete(out.toPath());
        }
    }

    @Test
    void a_million_threads_block_in_400_megabytes() throws Exception {
        Ended e = run(Million.class, "-Xmx400m");
        assertEquals("ended 0", e.text.trim());
        assertEquals(0, e.code);
    }

    @Test
    void when_main_throws_the_others_go_on_and_the_exit_code_is_1() throws Exception {
        Ended e = run(Throws.class);
        assertTrue(e.text.contains("Exception in thread \"main\" java.lang.IllegalStateException: main ends"), e.text);
        assertTrue(e.text.contains("other\n") && e.text.indexOf("hook\n") > e.text.indexOf("other\n"), e.text);
        assertEquals(1, e.code, e.text);
    }

    @Test
    void the_program_goes_on_after_the_kernel_threads_main_has_returned() throws Exception {
        for (String backend : new String[] {"coroutines", "platform"}) {
            Ended e = run(Leaves.class, "-Dlamprey.backend=" + backend);
            assertEquals("still here", e.text.trim());
            assertEquals(0, e.code);
        }
    }

    @Test
    void exit_runs_the_hooks_and_keeps_no_carrier() throws Exception {
        for (String option : new String[] {"-Dlamprey.carriers=1", "-Dlamprey.carriers=2", "-Dlamprey.simulate=1", "-Dlamprey.backend=platform"}) {
            Ended e = run(Exits.class, option);
            assertEquals("hook of h", e.text.trim(), option);
            assertEquals(3, e.code, option);
        }
        Ended e = run(Exits.class, "-Dlamprey.carriers=1", "-Dbusy=true");
        assertEquals("hook of h", e.text.trim());
        assertEquals(3, e.code);
    }

    @Test
    void exit_where_nothing_can_be_suspended() throws Exception {
        Ended e = run(ExitsPinned.class);
        assertEquals("", e.text.trim());
        assertEquals(4, e.code);
    }

    @Test
    void a_handler_that_throws_is_reported() throws Exception {
        for (String backend : new String[] {"coroutines", "platform"}) {
            Ended e = run(HandlerThrows.class, "-Dlamprey.backend=" + backend);
            assertEquals("Exception: java.lang.IllegalArgumentException thrown from the UncaughtExceptionHandler in thread \"t\"", e.text.trim());
            assertEquals(0, e.code);
        }
    }

    @Test
    void a_deadlock_in_a_simulation_is_reported_once() throws Exception {
        for (boolean outside : new boolean[] {false, true}) {
            Ended e = run(Deadlock.class, "-Dlamprey.simulate=42", "-Doutside=" + outside);
            assertEquals(2, e.text.split("deadlock: no thread can go on", -1).length, e.text);
            assertTrue(e.text.contains("WAITING, parked"), e.text);
            assertEquals(outside ? 0 : 1, e.code);
        }
    }

    @Test
    void a_scope_and_a_pool_whose_threads_cannot_start_end() throws Exception {
        Ended e = run(CannotStart.class, "-Dlamprey.carriers=none");
        assertEquals("scope\npool 0\npool 0\npool 0\ntrue", e.text.trim());
        assertEquals(0, e.code);
    }

    @Test
    void a_signal_prints_the_dump() throws Exception {
        Process p = new ProcessBuilder(command(Blocks.class, "-Dlamprey.dump=URG", "-Dlamprey.deadlocks=off")).redirectErrorStream(true).start();
        try (BufferedReader out = new BufferedReader(new InputStreamReader(p.getInputStream(), StandardCharsets.UTF_8))) {
            String blocked = out.readLine();
            assertTrue(blocked.startsWith("blocked ") && blocked.contains("@"), blocked);
            assertEquals(0, new ProcessBuilder("kill", "-URG", blocked.substring(8, blocked.indexOf('@'))).start().waitFor());
            assertEquals("1 threads that block or have blocked", out.readLine());
            String thread = out.readLine();
            assertTrue(thread.startsWith("\"sleeper\"") && thread.endsWith("WAITING, parked"), thread);
        } finally {
            p.destroyForcibly();
        }
        assertTrue(run(Blocks.class, "-Dlamprey.dump=KILL").text.contains("lamprey.dump=KILL"));
    }

    @Test
    void properties_choose_the_runtime() throws Exception {
        assertTrue(run(Leaves.class, "-Dlamprey.scheduler=fair").text.contains("no scheduler is called \"fair\""));
        Ended e = run(Leaves.class, "-Dlamprey.simulate=7");
        assertEquals("still here", e.text.trim());
    }
}
