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

    private Names() {}
}
