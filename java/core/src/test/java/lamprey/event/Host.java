package lamprey.event;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import lamprey.Backend;
import lamprey.PicoRuntime;
import lamprey.PicoThread;

/** On what kind of threads a test runs. Every test of communication runs on each. */
public enum Host {
    /** Threads of the JVM that this library did not make. */
    KERNEL,
    /** Light threads on one carrier. */
    ONE_CARRIER,
    /** Light threads on three carriers. */
    THREE_CARRIERS,
    /** Every other one is light. */
    MIXED;

    private static final Backend BACKEND = Backend.valueOf(System.getProperty("lamprey.test.backend", "COROUTINES"));

    /** A test's thread. */
    public interface Task {
        /** What it does. */
        void run() throws Throwable;
    }

    /** Runs the tasks at the same time and waits for all. The first failure is thrown. */
    public void run(List<Task> tasks) throws Throwable {
        ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
        PicoRuntime runtime = this == KERNEL ? null
            : PicoRuntime.builder().carriers(this == ONE_CARRIER ? 1 : 3).backend(BACKEND).build();
        List<PicoThread> light = new ArrayList<>();
        List<Thread> kernel = new ArrayList<>();
        try {
            for (int i = 0; i < tasks.size(); i++) {
                Runnable body = new Body(tasks.get(i), failures);
                if (runtime == null || this == MIXED && i % 2 == 1) {
                    Thread t = new Thread(body);
                    t.setDaemon(true);
                    t.start();
                    kernel.add(t);
                } else {
                    light.add(runtime.start(body));
                }
            }
            for (Thread t : kernel) {
                t.join();
            }
            for (PicoThread t : light) {
                t.join();
            }
        } finally {
            if (runtime != null) {
                runtime.shutdown();
            }
        }
        if (!failures.isEmpty()) {
            throw failures.peek();
        }
    }

    /** Runs the tasks at the same time and waits for all. */
    public void run(Task... tasks) throws Throwable {
        run(java.util.Arrays.asList(tasks));
    }

    private static final class Body implements Runnable {
        private final Task task;
        private final ConcurrentLinkedQueue<Throwable> failures;

        Body(Task task, ConcurrentLinkedQueue<Throwable> failures) {
            this.task = task;
            this.failures = failures;
        }

        @Override
        public void run() {
            try {
                task.run();
            } catch (Throwable t) {
                failures.add(t);
            }
        }
    }
}
