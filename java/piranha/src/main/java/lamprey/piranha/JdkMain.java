package lamprey.piranha;

/**
 * Runs the crawler on what the JDK has, for comparison: for this, the classes must not have been transformed ({@code target/plain}). The program
 * {@code virtual} is {@link VirtualPiranha}; the options of the back-end have no meaning.
 */
public final class JdkMain {
    private JdkMain() {}

    /** As {@link Main}. */
    public static void main(String[] args) {
        Options options = Main.options(args);
        Session session = new Session(options);
        session.run();
        System.exit(session.exitCode());
    }
}
