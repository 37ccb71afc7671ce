package lamprey.piranha.site;

/** How large the test site is, and how it behaves. */
public final class SiteOptions {
    /** Pages of the tree. */
    public int pages = 1000;
    /** Links of a page. */
    public int fanOut = 10;
    /** Length of a page; longer if its links need it. */
    public int bytes = 10_000;
    /** Before the answer to a page of the tree. */
    public int delayMillis;
    /** Has what crawlers stumble over besides: redirects, pages that are forbidden, missing, slow, cut, or never sent. */
    public boolean rough;
    /** 0 for any that is free. */
    public int port;

    /** A smooth site. */
    public SiteOptions() {}

    /**
     * Reads a command line.
     *
     * @throws IllegalArgumentException with a message for the user
     */
    static SiteOptions parse(String... args) {
        SiteOptions o = new SiteOptions();
        for (int i = 0; i < args.length; i++) {
            if (args[i].equals("--rough")) {
                o.rough = true;
            } else if (i + 1 == args.length) {
                throw new IllegalArgumentException(args[i] + " needs a value, or is unknown; known are --rough and, with a number,"
                    + " --pages, --fan-out, --bytes, --delay, --port");
            } else {
                o.set(args[i], args[++i]);
            }
        }
        return o;
    }

    private void set(String name, String value) {
        if (!value.matches("[0-9]{1,9}")) {
            throw new IllegalArgumentException(name + " " + value + ": not a number from 0 to 999999999");
        }
        int n = Integer.parseInt(value);
        switch (name) {
            case "--pages":
                pages = n;
                break;
            case "--fan-out":
                fanOut = n;
                break;
            case "--bytes":
                bytes = n;
                break;
            case "--delay":
                delayMillis = n;
                break;
            case "--port":
                port = n;
                break;
            default:
                throw new IllegalArgumentException("unknown option " + name);
        }
    }
}
