package lamprey.concurrent;

import java.io.IOException;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.nio.channels.Selector;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.concurrent.TimeUnit;

/** Waits for what the JDK notices: channels, changed files, unreachable objects. As in {@link Kernel}, one of the pool of kernel threads waits. */
public final class KernelEvents {
    private KernelEvents() {}

    /** A program's own class may wait as it likes, by code that can be suspended. */
    private static boolean isFree(Object o) {
        return Kernel.isFree() || !Kernel.isOfJdk(o);
    }

    // ---- Selectors: an interrupt ends the call, and stays set.

    /** {@code s.select()}. Blocks. */
    public static int select(Selector s) throws IOException {
        return isFree(s) ? s.select() : Kernel.<Integer>call(s::select);
    }

    /** {@code s.select(millis)}. Blocks. */
    public static int select(Selector s, long millis) throws IOException {
        return isFree(s) ? s.select(millis) : Kernel.<Integer>call(() -> s.select(millis));
    }

    // ---- Changes of files.

    /** {@code w.take()}. Blocks. */
    public static WatchKey take(WatchService w) throws InterruptedException {
        return isFree(w) ? w.take() : Kernel.interruptible(w::take);
    }

    /** {@code w.poll(time, unit)}. Blocks. */
    public static WatchKey poll(WatchService w, long time, TimeUnit unit) throws InterruptedException {
        return isFree(w) ? w.poll(time, unit) : Kernel.interruptible(() -> w.poll(time, unit));
    }

    // ---- Unreachable objects. What is there already is taken at once, and in spite of an interrupt, as by the JDK.

    /** {@code q.remove()}. Blocks. */
    public static <T> Reference<? extends T> remove(ReferenceQueue<T> q) throws InterruptedException {
        if (Kernel.isFree()) {
            return q.remove();
        }
        Reference<? extends T> r = q.poll();
        return r != null ? r : Kernel.<Reference<? extends T>>interruptible(q::remove);
    }

    /** {@code q.remove(millis)}. Blocks. */
    public static <T> Reference<? extends T> remove(ReferenceQueue<T> q, long millis) throws InterruptedException {
        if (Kernel.isFree() || millis < 0) {
            return q.remove(millis);
        }
        Reference<? extends T> r = q.poll();
        return r != null ? r : Kernel.<Reference<? extends T>>interruptible(() -> q.remove(millis));
    }
}
