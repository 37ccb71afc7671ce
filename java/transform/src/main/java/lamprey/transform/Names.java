package lamprey.transform;

/** Names of the runtime. The transformer knows it by name only: the runtime is built with it. */
public final class Names {
    /** The package of what generated code calls. */
    public static final String PACKAGE = "lamprey/instrument/";
    /** Descriptor of the annotation of hand-written methods that suspend. */
    public static final String PRIMITIVE = "Llamprey/instrument/Primitive;";
    /** Descriptor of the annotation of methods that can suspend. */
    public static final String SUSPENDABLE = "Llamprey/instrument/Suspendable;";
    /** Descriptor of the annotation of classes that have been transformed. */
    public static final String TRANSFORMED = "Llamprey/instrument/Transformed;";
    /** Locks of light threads. */
    public static final String MONITORS = PACKAGE + "Monitors";
    /** Texts of objects. */
    public static final String CONCAT = PACKAGE + "Concat";
    /** Surrounds static initialisers. */
    public static final String INITIALISER = PACKAGE + "Initialiser";
    /** Runs the main method. */
    public static final String MAIN = PACKAGE + "Main";
    /** Super class of generated frame classes. */
    public static final String FRAME = PACKAGE + "Frame";
    /** The threads. */
    public static final String THREAD = "lamprey/PicoThread";
    /** The tables of names that are replaced. */
    public static final String REWRITES = "META-INF/lamprey/rewrites";
    /** Where a program's main method moves to. */
    public static final String MAIN_BODY = "main$pico$body";
    /** Appended to a class's name, for the class that calls the moved main method. */
    public static final String MAIN_CLASS = "$pico$main";

    private static final String GENERATED = "$pico";

    private Names() {}

    /** The class that a frame class, or the class that calls a moved main method, was generated for. */
    public static String generatedFor(String name) {
        int end = name.lastIndexOf(GENERATED, name.endsWith(MAIN_CLASS) ? name.length() - MAIN_CLASS.length() : name.length());
        return end < 0 ? name : name.substring(0, end);
    }
}
