package lamprey.piranha;

/** Crawls as the command line says, and prints what came of it. */
final class Session implements Runnable {
    private final Options options;
    private volatile int exitCode = 1;

    Session(Options options) {
        this.options = options;
    }

    /** 0 if a start page was read and the crawl came to its end. */
    int exitCode() {
        return exitCode;
    }

    /** Blocks until no URL is left. */
    @Override
    public void run() {
        try {
            boolean started = true;
            for (int i = 0; i < options.repeat; i++) {
                Crawl crawl = new Crawl(options);
                System.out.println(crawl.run());
                started &= crawl.hasStarted();
            }
            if (started) {
                exitCode = 0;
            } else {
                System.err.println("no start page could be read: " + options.start + "; --verbose says why");
            }
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
