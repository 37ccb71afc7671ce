package lamprey;

/** The first thread of a runtime's {@code call}: keeps the result for the kernel thread that waits. */
final class MainBody<T> implements Runnable {
    private final PicoRuntime.Body<T> body;
    private T result;
    private Throwable error;
    private boolean done;

    MainBody(PicoRuntime.Body<T> body) {
        this.body = body;
    }

    /** Without a result. */
    static final class OfRunnable implements PicoRuntime.Body<Object> {
        private final Runnable task;

        OfRunnable(Runnable task) {
            this.task = task;
        }

        @Override
        public Object run() {
            task.run();
            return null;
        }
    }

    @Override
    public void run() {
        try {
            result = body.run();
        } catch (Throwable e) {
            error = e;
        }
        done = true;
    }

    /** After the thread has ended, which orders the fields. */
    T result() throws Exception {
        if (error != null) {
            throw Parking.<RuntimeException>sneak(error);
        }
        if (!done) {
            throw new IllegalStateException("the runtime was closed before its main thread had ended");
        }
        return result;
    }
}
