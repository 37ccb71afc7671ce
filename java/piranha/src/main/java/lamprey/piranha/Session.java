package lamprey.piranha;

/** Crawls as the command line says, and prints what came of it. */
final class Session implements Runnable {
    private final Options options;
    private volatile int exitCode = 1;

    Session(Options options) {
        this.options = options;
    }

    /** 0 if the crawl came to its end. */
    int exitCode() {
        return exitCode;
    }

    /** Blocks until no URL is left. */
    @Override
    public void run() {
        try {
            for (int i = 0; i < options.repeat; i++) {
                System.out.println(new Crawl(options).run());
            }
            exitCode = 0;
        } catch (IllegalStateException e) {
            System.err.println(e.getMessage() + ": " + e.getCause());
            if (e.getCause() instanceof OutOfMemoryError) {
                System.err.println("the machine has no room for so many threads: choose another --backend, or --program pool");
            }
        } catch (InterruptedException e) {
            System.err.println("interrupted");
        }
    }
}
