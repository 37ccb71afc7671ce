package lamprey;

/** Makes threads as it was told. */
final class Builders implements PicoThread.Builder.OfVirtual {
    private final Platform settings = new Platform();

    private Builders() {}

    static PicoThread.Builder.OfVirtual ofPico() {
        return new Builders();
    }

    static PicoThread.Builder.OfVirtual ofVirtual() {
        Builders b = new Builders();
        b.settings.daemon(true);
        return b;
    }

    static PicoThread.Builder.OfPlatform ofPlatform() {
        return new Platform();
    }

    @Override
    public Builders name(String name) {
        settings.name(name);
        return this;
    }

    @Override
    public Builders name(String prefix, long start) {
        settings.name(prefix, start);
        return this;
    }

    @Override
    public Builders uncaughtExceptionHandler(PicoThread.UncaughtExceptionHandler handler) {
        settings.uncaughtExceptionHandler(handler);
        return this;
    }

    @Override
    public Builders inheritInheritableThreadLocals(boolean inherit) {
        settings.inheritInheritableThreadLocals(inherit);
        return this;
    }

    @Override
    public PicoThread unstarted(Runnable task) {
        return settings.unstarted(task);
    }

    @Override
    public PicoThread start(Runnable task) {
        return settings.start(task);
    }

    @Override
    public PicoThreadFactory factory() {
        return settings.factory();
    }

    /** Has all settings. */
    private static final class Platform implements PicoThread.Builder.OfPlatform {
        private String name;
        private long counter = -1;
        private PicoThread.UncaughtExceptionHandler handler;
        private boolean inherit = true;
        private Boolean daemon;
        private int priority;
        private long stackSize;

        @Override
        public Platform name(String name) {
            if (name == null) {
                throw new NullPointerException("the name of a thread cannot be null");
            }
            this.name = name;
            counter = -1;
            return this;
        }

        @Override
        public Platform name(String prefix, long start) {
            if (start < 0) {
                throw new IllegalArgumentException("names are counted from " + start + ", which is negative");
            }
            name(prefix);
            counter = start;
            return this;
        }

        @Override
        public Platform uncaughtExceptionHandler(PicoThread.UncaughtExceptionHandler handler) {
            this.handler = handler;
            return this;
        }

        @Override
        public Platform inheritInheritableThreadLocals(boolean inherit) {
            this.inherit = inherit;
            return this;
        }

        @Override
        public Platform daemon(boolean on) {
            daemon = on;
            return this;
        }

        @Override
        public Platform daemon() {
            return daemon(true);
        }

        @Override
        public Platform priority(int priority) {
            if (priority < Thread.MIN_PRIORITY || priority > Thread.MAX_PRIORITY) {
                throw new IllegalArgumentException("priority " + priority + " is not between 1 and 10");
            }
            this.priority = priority;
            return this;
        }

        @Override
        public Platform group(ThreadGroup group) {
            return this;
        }

        @Override
        public Platform stackSize(long size) {
            if (size < 0) {
                throw new IllegalArgumentException("a stack of " + size + " bytes; it cannot be negative");
            }
            stackSize = size;
            return this;
        }

        private synchronized String nextName() {
            return counter < 0 ? name : name + counter++;
        }

        @Override
        public PicoThread unstarted(Runnable task) {
            if (task == null) {
                throw new NullPointerException("a thread needs a task");
            }
            PicoThread t = new PicoThread(null, task, nextName());
            t.stackSize(stackSize);
            if (!inherit) {
                t.locals = null;
            }
            if (handler != null) {
                t.setUncaughtExceptionHandler(handler);
            }
            if (daemon != null) {
                t.daemon = daemon;
            }
            if (priority != 0) {
                t.priority = (byte) priority;
            }
            return t;
        }

        @Override
        public PicoThread start(Runnable task) {
            PicoThread t = unstarted(task);
            t.start();
            return t;
        }

        @Override
        public PicoThreadFactory factory() {
            return this::unstarted;
        }
    }
}
